//! How much memory the program has.

/// Bytes of the program that are in memory; `None` where the system does not tell.
pub fn used() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = text.lines().find_map(|l| l.strip_prefix("VmRSS:"))?;
    let kilobytes: u64 = line.trim().split(' ').next()?.parse().ok()?;
    Some(kilobytes * 1024)
}

#[cfg(test)]
mod tests {
    #[test]
    #[cfg(target_os = "linux")]
    fn memory_that_is_written_counts() {
        let before = super::used().expect("linux tells");
        let block = vec![1u8; 64 << 20];
        let after = super::used().expect("linux tells");
        assert!(after >= before + (60 << 20), "{before} {after}");
        assert!(block.iter().all(|b| *b == 1));
    }
}
