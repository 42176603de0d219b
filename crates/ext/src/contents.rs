//! The contents of files that an operation stream writes: a function of the name of the file and the offset, so that every
//! byte can be verified without having been stored.

/// An odd number near 2^64 divided by the golden section: successive multiples are spread over all numbers.
const STEP: u64 = 0x9e37_79b9_7f4a_7c15;

/// Fills a buffer with the contents of a file from an offset in bytes on.
pub fn fill(name: &str, offset: u64, into: &mut [u8]) {
    let seed = name.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    let mut word = offset / 8;
    let skip = (offset % 8) as usize;
    let (head, rest) = into.split_at_mut(((8 - skip) % 8).min(into.len()));
    if !head.is_empty() {
        let bytes = mixed(seed, word);
        head.copy_from_slice(&bytes[skip..skip + head.len()]);
        word += 1;
    }
    let mut words = rest.chunks_exact_mut(8);
    for chunk in &mut words {
        chunk.copy_from_slice(&mixed(seed, word));
        word += 1;
    }
    let last = words.into_remainder();
    let bytes = mixed(seed, word);
    last.copy_from_slice(&bytes[..last.len()]);
}

fn mixed(seed: u64, word: u64) -> [u8; 8] {
    let mut value = seed ^ word.wrapping_mul(STEP);
    value = (value ^ value >> 32).wrapping_mul(STEP);
    (value ^ value >> 29).to_le_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_has_the_bytes_of_the_whole() {
        let mut whole = [0; 100];
        fill("s1/7", 0, &mut whole);
        for from in 0..40 {
            for to in from..60 {
                let mut part = vec![0; to - from];
                fill("s1/7", from as u64, &mut part);
                assert_eq!(part, whole[from..to], "{from}..{to}");
            }
        }
        let mut other = [0; 100];
        fill("s1/8", 0, &mut other);
        assert!(whole.iter().zip(&other).filter(|(a, b)| a == b).count() < 10);
    }
}
