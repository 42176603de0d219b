//! Our io_manager of libext2fs and its hooks of allocation: the library's reads and writes go to the cache of metadata, its
//! new blocks come from the allocator.
//!
//! The library is used by one thread. What a hook needs lies behind one [`RefCell`], which no caller of the library has
//! borrowed; a hook that finds it borrowed fails instead of panicking.
#![allow(unsafe_code, reason = "functions that a C library calls")]

use crate::allocation::Allocation;
use crate::disk::{BLOCK, Disk};
use crate::ffi::{
    AllocContext, BLOCK_ALLOC_FAIL, Channel, Code, Filsys, MAGIC_IO_CHANNEL, MAGIC_IO_MANAGER,
    Manager, SHORT_READ, SHORT_WRITE,
};
use crate::meta::Meta;
use std::cell::{Cell, RefCell};
use std::ffi::{CStr, c_char, c_int, c_long, c_ulong, c_ulonglong, c_void};
use std::io;
use std::ptr;

/// What the hooks work on.
pub(crate) struct Shared {
    pub(crate) disk: Box<dyn Disk>,
    pub(crate) meta: Meta,
    /// Whether writes go to the disk at once: while formatting.
    pub(crate) through: bool,
    /// None while formatting, and for an image that is only read.
    pub(crate) allocation: Option<Allocation>,
    /// The first error of the disk, which the library knows only as a number.
    pub(crate) failure: Option<io::Error>,
}

impl Shared {
    pub(crate) fn new(disk: Box<dyn Disk>, through: bool) -> Self {
        Self {
            disk,
            meta: Meta::default(),
            through,
            allocation: None,
            failure: None,
        }
    }

    fn read(&mut self, offset: u64, into: &mut [u8]) -> io::Result<()> {
        self.meta.read(self.disk.as_mut(), offset, into)
    }

    fn write(&mut self, offset: u64, from: &[u8]) -> io::Result<()> {
        self.meta.write(self.disk.as_mut(), offset, from)?;
        if self.through {
            for (block, data) in self.meta.take_dirty() {
                self.disk.write(block, data.as_slice())?;
            }
            self.meta.shrink(|_| false);
        }
        Ok(())
    }

    fn zero(&mut self, block: u64, blocks: u64) -> io::Result<()> {
        if self.through {
            (block..block + blocks).for_each(|block| self.meta.forget(block));
            return self.disk.zero(block, blocks);
        }
        let zeroes = [0; BLOCK];
        (block..block + blocks).try_for_each(|block| self.write(block * BLOCK as u64, &zeroes))
    }

    fn failed(&mut self, error: io::Error, code: Code) -> Code {
        self.failure.get_or_insert(error);
        code
    }
}

thread_local! {
    /// What the next channel works on: the library passes nothing to `open` but a name.
    static OPENING: Cell<*const RefCell<Shared>> = const { Cell::new(ptr::null()) };
}

/// Runs a function of the library that opens a channel, which works on `shared`.
pub(crate) fn opening<T>(shared: &RefCell<Shared>, open: impl FnOnce() -> T) -> T {
    OPENING.set(ptr::from_ref(shared));
    let opened = open();
    OPENING.set(ptr::null());
    opened
}

const NAME: &CStr = c"image";

pub(crate) static MANAGER: Manager = Manager {
    magic: MAGIC_IO_MANAGER,
    name: NAME.as_ptr(),
    open,
    close,
    set_blksize,
    read_blk,
    write_blk,
    flush,
    write_byte: ptr::null(),
    set_option: ptr::null(),
    get_stats: ptr::null(),
    read_blk64: Some(read_blk64),
    write_blk64: Some(write_blk64),
    discard: ptr::null(),
    cache_readahead: ptr::null(),
    zeroout: Some(zeroout),
    reserved: [0; 14],
};

unsafe extern "C" fn open(_name: *const c_char, _flags: c_int, out: *mut *mut Channel) -> Code {
    let channel = Box::new(Channel {
        magic: MAGIC_IO_CHANNEL,
        manager: &MANAGER,
        name: NAME.as_ptr(),
        block_size: 1024,
        read_error: ptr::null(),
        write_error: ptr::null(),
        refcount: 1,
        flags: 0,
        reserved: [0; 14],
        private_data: OPENING.get().cast(),
        app_data: ptr::null_mut(),
        align: 0,
    });
    // SAFETY: the library passes a place for the pointer.
    unsafe { *out = Box::into_raw(channel) };
    0
}

unsafe extern "C" fn close(channel: *mut Channel) -> Code {
    // SAFETY: the channel is one that `open` made; the count tells when its last user is gone.
    unsafe {
        (*channel).refcount -= 1;
        if (*channel).refcount <= 0 {
            drop(Box::from_raw(channel));
        }
    }
    0
}

unsafe extern "C" fn set_blksize(channel: *mut Channel, bytes: c_int) -> Code {
    // SAFETY: the channel is one that `open` made.
    unsafe { (*channel).block_size = bytes };
    0
}

/// Runs `work` on what the channel works on, with the range in bytes; a negative count is one of bytes. `code` is the
/// answer if that is in use.
///
/// # Safety
/// The channel is one that [`open`] made, and what it works on lives.
unsafe fn on(
    channel: *mut Channel,
    block: u64,
    count: c_int,
    code: Code,
    work: impl FnOnce(&mut Shared, u64, usize) -> io::Result<()>,
) -> Code {
    // SAFETY: see the requirement of this function.
    let (shared, unit) = unsafe {
        let shared = (*channel).private_data.cast::<RefCell<Shared>>();
        (shared.as_ref(), (*channel).block_size)
    };
    let Some(Ok(mut shared)) = shared.map(|shared| shared.try_borrow_mut()) else {
        return code;
    };
    let unit = unit.unsigned_abs();
    let bytes = match count {
        0.. => count.unsigned_abs() as usize * unit as usize,
        _ => count.unsigned_abs() as usize,
    };
    let Some(offset) = block.checked_mul(u64::from(unit)) else {
        return code;
    };
    match work(&mut shared, offset, bytes) {
        Ok(()) => 0,
        Err(error) => shared.failed(error, code),
    }
}

unsafe extern "C" fn read_blk64(
    channel: *mut Channel,
    block: c_ulonglong,
    count: c_int,
    data: *mut c_void,
) -> Code {
    // SAFETY: the library passes one of our channels and a buffer of that many blocks; its bytes may be without a value,
    // so they get one first.
    unsafe {
        on(
            channel,
            block,
            count,
            SHORT_READ,
            |shared, offset, bytes| {
                ptr::write_bytes(data.cast::<u8>(), 0, bytes);
                let into = std::slice::from_raw_parts_mut(data.cast::<u8>(), bytes);
                shared.read(offset, into)
            },
        )
    }
}

unsafe extern "C" fn write_blk64(
    channel: *mut Channel,
    block: c_ulonglong,
    count: c_int,
    data: *const c_void,
) -> Code {
    // SAFETY: the library passes one of our channels and a buffer of that many blocks.
    unsafe {
        on(
            channel,
            block,
            count,
            SHORT_WRITE,
            |shared, offset, bytes| {
                let from = std::slice::from_raw_parts(data.cast::<u8>(), bytes);
                shared.write(offset, from)
            },
        )
    }
}

unsafe extern "C" fn read_blk(
    channel: *mut Channel,
    block: c_ulong,
    count: c_int,
    data: *mut c_void,
) -> Code {
    // SAFETY: the same as for the 64-bit form.
    unsafe { read_blk64(channel, block, count, data) }
}

unsafe extern "C" fn write_blk(
    channel: *mut Channel,
    block: c_ulong,
    count: c_int,
    data: *const c_void,
) -> Code {
    // SAFETY: the same as for the 64-bit form.
    unsafe { write_blk64(channel, block, count, data) }
}

unsafe extern "C" fn zeroout(
    channel: *mut Channel,
    block: c_ulonglong,
    count: c_ulonglong,
) -> Code {
    // SAFETY: the library passes one of our channels.
    unsafe {
        on(channel, block, 0, SHORT_WRITE, |shared, offset, _| {
            shared.zero(offset / BLOCK as u64, count)
        })
    }
}

/// Durability is the business of the sync, which knows the order.
unsafe extern "C" fn flush(_channel: *mut Channel) -> Code {
    0
}

/// # Safety
/// The private data of the file system is null or what lives behind [`install`].
unsafe fn behind<'a>(fs: *mut Filsys) -> Option<&'a RefCell<Shared>> {
    // SAFETY: see the requirement of this function.
    unsafe {
        (*fs)
            .priv_data
            .cast::<RefCell<Shared>>()
            .cast_const()
            .as_ref()
    }
}

unsafe extern "C" fn get_block(
    fs: *mut Filsys,
    goal: u64,
    block: *mut u64,
    context: *mut AllocContext,
) -> Code {
    // SAFETY: the hook is installed together with the private data; the library passes a place for the block, and a
    // context or null.
    let (shared, context) = unsafe { (behind(fs), context.as_ref()) };
    let Some(Ok(mut shared)) = shared.map(|shared| shared.try_borrow_mut()) else {
        return BLOCK_ALLOC_FAIL;
    };
    let (inode, page) = context.map_or((0, 0), |context| (context.inode, context.page));
    let taken = shared
        .allocation
        .as_mut()
        .and_then(|allocation| allocation.metadata(inode, page, goal));
    let Some(taken) = taken else {
        return BLOCK_ALLOC_FAIL;
    };
    // SAFETY: see above.
    unsafe { *block = taken };
    0
}

unsafe extern "C" fn block_stats(fs: *mut Filsys, block: u64, in_use: c_int) {
    // SAFETY: the hook is installed together with the private data.
    let shared = unsafe { behind(fs) };
    if let Some(Ok(mut shared)) = shared.map(|shared| shared.try_borrow_mut())
        && let Some(allocation) = &mut shared.allocation
    {
        allocation.noted(block, in_use > 0);
    }
}

/// Lets the library allocate through `shared`.
///
/// # Safety
/// `fs` is an open file system, and `shared` outlives it.
pub(crate) unsafe fn install(fs: *mut Filsys, shared: &RefCell<Shared>) {
    // SAFETY: see the requirement of this function.
    unsafe {
        (*fs).priv_data = ptr::from_ref(shared).cast_mut().cast();
        (*fs).get_alloc_block2 = Some(get_block);
        (*fs).block_alloc_stats = Some(block_stats);
    }
}

const _: () = assert!(size_of::<c_long>() == 8, "block numbers need 64 bits");
