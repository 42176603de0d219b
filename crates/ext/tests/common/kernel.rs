//! Images mounted by the kernel, where that is possible: root, loop devices, and a kernel with the file system.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// A mounted image. Dropping it unmounts.
pub(crate) struct Mounted {
    pub(crate) at: PathBuf,
    device: String,
    mounted: bool,
}

fn run(program: &str, args: &[&str]) -> Result<String, String> {
    let output = Command::new(program).args(args).output();
    let output = output.map_err(|error| format!("{program}: {error}"))?;
    match output.status.success() {
        true => Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned()),
        false => Err(String::from_utf8_lossy(&output.stderr).trim().to_owned()),
    }
}

/// Whether the kernel can mount images here. The test says why not.
pub(crate) fn can_mount(dir: &Path) -> bool {
    let image = dir.join("probe");
    std::fs::File::create(&image)
        .unwrap()
        .set_len(8 << 20)
        .unwrap();
    let path = image.to_str().unwrap();
    let made = run("mke2fs", &["-q", "-F", "-t", "ext4", path]);
    let found = made.and_then(|_| Mounted::new(&image, dir, "ro").map(|_| ()));
    match found {
        Ok(()) => true,
        Err(why) => {
            eprintln!("skipped: the kernel mounts no image here ({why})");
            false
        }
    }
}

impl Mounted {
    /// Mounts an image with an option, `ro` or `rw`. The journal is replayed in both cases.
    pub(crate) fn new(image: &Path, dir: &Path, option: &str) -> Result<Self, String> {
        let at = dir.join("mounted");
        std::fs::create_dir_all(&at).map_err(|error| error.to_string())?;
        let path = image.to_str().ok_or("the path is not UTF-8")?;
        let mut mounted = Self {
            device: run("losetup", &["--find", "--show", path])?,
            at,
            mounted: false,
        };
        let to = mounted.at.to_string_lossy().into_owned();
        // The driver of ext4 serves all three; its name would not be accepted for all.
        let tried = ["ext4", "ext3", "ext2"].map(|kind| {
            mounted.mounted
                || match run("mount", &["-t", kind, "-o", option, &mounted.device, &to]) {
                    Ok(_) => {
                        mounted.mounted = true;
                        true
                    }
                    Err(_) => false,
                }
        });
        match tried[2] {
            true => Ok(mounted),
            false => Err("mount failed".into()),
        }
    }

    /// Unmounts and detaches.
    ///
    /// # Panics
    /// If that fails.
    #[allow(
        clippy::disallowed_methods,
        reason = "waits for a process of another test, which no device knows"
    )]
    pub(crate) fn end(mut self) {
        let at = self.at.to_str().unwrap();
        // A process that another test begins at this moment has our open files until it has begun.
        let tries = (0..50).take_while(|_| {
            let busy = run("umount", &[at]).is_err();
            if busy {
                #[allow(clippy::disallowed_methods, reason = "waits for another process")]
                std::thread::sleep(Duration::from_millis(20));
            }
            busy
        });
        assert!(tries.count() < 50, "{at} stays busy");
        self.mounted = false;
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        if self.mounted {
            let _ = run("umount", &[&self.at.to_string_lossy()]);
        }
        let _ = run("losetup", &["--detach", &self.device]);
    }
}
