//! A process that may compute, read Prolog's own library and answer, and nothing else.
//!
//! What is enforced, and by what: no writing, no network, no processes and no signals to others (seccomp: the calls that
//! are allowed are listed, any other is an error); no reading but of Prolog's and the system's libraries, and no program
//! but Prolog itself (Landlock, where the kernel has it); memory, files that are open at once, core files (limits). The
//! process ends with whoever started it. All of this is in force before the first instruction of the program runs.
//!
//! Absent on purpose: a way without. Where a process cannot be confined, nothing is run.

use std::path::Path;
use std::process::Command;

/// Confines what a command will run; `home` is where Prolog's files are.
///
/// # Errors
/// Why that cannot be done here.
#[cfg(not(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64"))))]
pub fn confine(_: &mut Command, _: &Path, _: &Path, _: u64) -> Result<(), String> {
    Err("programs are only run on Linux, on x86-64 and aarch64: elsewhere kanon cannot keep them from \
         writing files and from the network"
        .into())
}

#[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
pub use linux::confine;

#[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
mod linux {
    use super::{Command, Path};
    use landlock::{
        ABI, Access, AccessFs, CompatLevel, Compatible, PathBeneath, PathFd, Ruleset, RulesetAttr,
        RulesetCreatedAttr,
    };
    use seccompiler::{
        BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
        SeccompRule, TargetArch,
    };
    use std::collections::BTreeMap;
    use std::io;
    use std::os::fd::{AsRawFd, OwnedFd};
    use std::os::unix::process::CommandExt;

    /// Files that are open at once.
    const FILES: u64 = 64;

    /// What the dynamic linker and locales read, beside Prolog's own files.
    const READ: [&str; 8] = [
        "/lib",
        "/lib64",
        "/usr/lib",
        "/usr/lib64",
        "/usr/local/lib",
        "/usr/share/locale",
        "/etc/ld.so.cache",
        "/sys/devices/system/cpu",
    ];

    /// Programs: the dynamic linker, which the system runs in front of Prolog.
    const LINKERS: [&str; 4] = [
        "/lib64/ld-linux-x86-64.so.2",
        "/lib/ld-linux-aarch64.so.1",
        "/lib/ld-musl-x86_64.so.1",
        "/lib/ld-musl-aarch64.so.1",
    ];

    /// Confines what a command will run; `program` is what it runs, and `home` is where Prolog's files are.
    ///
    /// # Errors
    /// Why that cannot be done here.
    pub fn confine(command: &mut Command, program: &Path, home: &Path, memory: u64) -> Result<(), String> {
        let filter = filter().map_err(|e| format!("no filter of system calls: {e}"))?;
        let files = files(program, home).map_err(|e| format!("no rules for files: {e}"))?;
        let enter = move || {
            apply(&files, &filter, memory)?;
            Ok(())
        };
        // SAFETY: `enter` runs in the child between fork and exec. It calls the system and does nothing else: no memory
        // is allocated and no lock is taken, and everything that it reads was made before.
        #[allow(unsafe_code)]
        unsafe {
            command.pre_exec(enter)
        };
        Ok(())
    }

    #[allow(unsafe_code)] // Calls of the system on values that live as long as the call.
    fn apply(files: &Option<OwnedFd>, filter: &BpfProgram, memory: u64) -> io::Result<()> {
        let done = |result: i64| if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) };
        let limits = [
            (libc::RLIMIT_CORE, 0),
            (libc::RLIMIT_FSIZE, 0),
            (libc::RLIMIT_NOFILE, FILES),
            (libc::RLIMIT_AS, memory),
        ];
        for (what, most) in limits {
            let limit = libc::rlimit { rlim_cur: most, rlim_max: most };
            // SAFETY: `limit` is a whole `rlimit`, which the call only reads.
            done(unsafe { libc::setrlimit(what, &limit) }.into())?;
        }
        // SAFETY: none of these takes a pointer. Files that are open besides the three are closed when Prolog begins; a
        // kernel without that call has only those that were handed to kanon itself.
        unsafe {
            libc::syscall(libc::SYS_close_range, 3, u32::MAX, libc::CLOSE_RANGE_CLOEXEC);
            libc::setsid();
            done(libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL, 0, 0, 0).into())?;
            done(libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0).into())?;
        }
        if let Some(files) = files {
            // SAFETY: the descriptor is open, since `files` owns it.
            done(unsafe { libc::syscall(libc::SYS_landlock_restrict_self, files.as_raw_fd(), 0) })?;
        }
        seccompiler::apply_filter(filter).map_err(|_| io::Error::last_os_error())
    }

    /// What may be read and run; none where the kernel has no Landlock.
    fn files(program: &Path, home: &Path) -> Result<Option<OwnedFd>, String> {
        let wrong = |e: landlock::RulesetError| e.to_string();
        let abi = ABI::V3;
        let ruleset = Ruleset::default().set_compatibility(CompatLevel::BestEffort);
        let mut ruleset =
            ruleset.handle_access(AccessFs::from_all(abi)).map_err(wrong)?.create().map_err(wrong)?;
        let read = AccessFs::ReadFile | AccessFs::ReadDir;
        let reads = READ.iter().map(Path::new).chain([home, program]).map(|p| (p, read));
        let runs = LINKERS.iter().map(Path::new).chain([program]);
        for (path, access) in reads.chain(runs.map(|p| (p, AccessFs::Execute | AccessFs::ReadFile))) {
            // What is not there needs no rule.
            let Ok(at) = PathFd::new(path) else { continue };
            let access = if path.is_dir() { access } else { access & !AccessFs::ReadDir };
            ruleset = ruleset.add_rule(PathBeneath::new(at, access)).map_err(wrong)?;
        }
        Ok(ruleset.into())
    }

    /// What opens a file for anything but reading.
    const WRITING: i32 = libc::O_ACCMODE | libc::O_CREAT | libc::O_TRUNC | libc::O_APPEND | libc::O_TMPFILE;

    fn filter() -> Result<BpfProgram, String> {
        let wrong = |e: seccompiler::BackendError| e.to_string();
        let when = |place: u8, op: SeccompCmpOp, value: u64| {
            let condition =
                SeccompCondition::new(place, SeccompCmpArgLen::Qword, op, value).map_err(wrong)?;
            Ok::<_, String>(vec![SeccompRule::new(vec![condition]).map_err(wrong)?])
        };
        // `O_DIRECTORY` is a part of `O_TMPFILE`, and folders are read.
        let writing = (WRITING & !libc::O_DIRECTORY) as u32;
        let mut rules: BTreeMap<i64, Vec<SeccompRule>> = ALLOWED.iter().map(|n| (*n, vec![])).collect();
        rules.insert(libc::SYS_openat, when(2, SeccompCmpOp::MaskedEq(writing.into()), 0)?);
        // Only questions about limits, and whether something is a terminal.
        rules.insert(libc::SYS_prlimit64, when(2, SeccompCmpOp::Eq, 0)?);
        rules.insert(libc::SYS_ioctl, when(1, SeccompCmpOp::MaskedEq(0xffff_ffff), libc::TCGETS)?);
        #[cfg(target_arch = "x86_64")]
        {
            rules.insert(libc::SYS_open, when(1, SeccompCmpOp::MaskedEq(writing.into()), 0)?);
            rules.extend(OLD.iter().map(|n| (*n, vec![])));
        }
        let arch = TargetArch::try_from(std::env::consts::ARCH).map_err(wrong)?;
        let refuse = SeccompAction::Errno(libc::EPERM as u32);
        let filter = SeccompFilter::new(rules, refuse, SeccompAction::Allow, arch).map_err(wrong)?;
        filter.try_into().map_err(wrong)
    }

    /// Calls that x86-64 has beside newer ones that do the same.
    #[cfg(target_arch = "x86_64")]
    const OLD: [i64; 12] = [
        libc::SYS_access,
        libc::SYS_arch_prctl,
        libc::SYS_dup2,
        libc::SYS_getdents,
        libc::SYS_getrlimit,
        libc::SYS_lstat,
        libc::SYS_poll,
        libc::SYS_readlink,
        libc::SYS_select,
        libc::SYS_stat,
        libc::SYS_time,
        libc::SYS_getpgrp,
    ];

    /// What computing, reading and answering need. Not here, and so refused: sockets, pipes, processes and threads,
    /// signals to others, names in the file system (made, removed, renamed, linked), modes, owners and times of files,
    /// tracing, keys, and everything that a kernel may get later. `execve` is, since Prolog is started with it; Landlock
    /// says what it may start.
    const ALLOWED: [i64; 62] = [
        libc::SYS_brk,
        libc::SYS_clock_getres,
        libc::SYS_clock_gettime,
        libc::SYS_clock_nanosleep,
        libc::SYS_close,
        libc::SYS_dup,
        libc::SYS_dup3,
        libc::SYS_execve,
        libc::SYS_exit,
        libc::SYS_exit_group,
        libc::SYS_faccessat,
        libc::SYS_faccessat2,
        libc::SYS_fcntl,
        libc::SYS_fstat,
        libc::SYS_fstatfs,
        libc::SYS_futex,
        libc::SYS_getcwd,
        libc::SYS_getdents64,
        libc::SYS_getegid,
        libc::SYS_geteuid,
        libc::SYS_getgid,
        libc::SYS_getpgid,
        libc::SYS_getpid,
        libc::SYS_getppid,
        libc::SYS_getrandom,
        libc::SYS_getrusage,
        libc::SYS_gettid,
        libc::SYS_gettimeofday,
        libc::SYS_getuid,
        libc::SYS_lseek,
        libc::SYS_madvise,
        libc::SYS_membarrier,
        libc::SYS_mmap,
        libc::SYS_mprotect,
        libc::SYS_mremap,
        libc::SYS_munmap,
        libc::SYS_nanosleep,
        libc::SYS_newfstatat,
        libc::SYS_ppoll,
        libc::SYS_pread64,
        libc::SYS_pselect6,
        libc::SYS_read,
        libc::SYS_readlinkat,
        libc::SYS_readv,
        libc::SYS_restart_syscall,
        libc::SYS_rseq,
        libc::SYS_rt_sigaction,
        libc::SYS_rt_sigpending,
        libc::SYS_rt_sigprocmask,
        libc::SYS_rt_sigreturn,
        libc::SYS_sched_getaffinity,
        libc::SYS_sched_yield,
        libc::SYS_set_robust_list,
        libc::SYS_set_tid_address,
        libc::SYS_sigaltstack,
        libc::SYS_statfs,
        libc::SYS_statx,
        libc::SYS_sysinfo,
        libc::SYS_times,
        libc::SYS_uname,
        libc::SYS_write,
        libc::SYS_writev,
    ];

    #[cfg(test)]
    mod tests {
        use super::*;
        use std::process::Stdio;

        /// What a shell says, confined, that may run one program.
        fn says(program: &str, line: &str) -> (bool, String) {
            let shell = std::fs::canonicalize(program).expect("it is there");
            let mut command = Command::new(&shell);
            command.args(["-c", line]).stdout(Stdio::piped()).stderr(Stdio::piped());
            confine(&mut command, &shell, Path::new("/nowhere"), 1 << 30).expect("a way to confine it");
            let output = command.output().expect("it starts");
            (output.status.success(), String::from_utf8_lossy(&output.stdout).trim().to_string())
        }

        #[test]
        fn a_confined_process_computes_and_does_nothing_else() {
            assert_eq!(says("/bin/sh", "echo $((6 * 7))"), (true, "42".into()));
            let folder = std::env::temp_dir();
            let there = folder.join(format!("kanon-confined-{}", std::process::id()));
            std::fs::write(&there, "secret").expect("a file");
            let path = there.display();
            let mut lines = vec![
                format!("echo more > {path}"),
                format!("echo more >> {path}"),
                format!("echo new > {path}.new"),
                "kill -0 1".to_string(),
                // A process of its own.
                "(echo a) | read x".to_string(),
            ];
            // Not every kernel has it.
            if files(Path::new("/bin/sh"), Path::new("/nowhere")).expect("rules").is_some() {
                lines.push(format!("read x < {path} && echo $x"));
                lines.push("exec /bin/cat /etc/passwd".to_string());
            }
            for line in lines {
                let (ended_well, said) = says("/bin/sh", &line);
                assert!(!ended_well && said.is_empty(), "{line}: {said}");
            }
            assert_eq!(std::fs::read_to_string(&there).expect("still there"), "secret");
            assert!(!there.with_extension("new").exists());
            std::fs::remove_file(&there).expect("removed");
        }
    }
}
