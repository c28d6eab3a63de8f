use std::fs;
use std::ops::Range;

/// Gives back the pages of program and library files that only the start needed.
///
/// What is used again comes back from the page cache by itself. Only code and the program's own
/// constants are given back: they are never written, while other read-only data holds addresses
/// that were set when the program was loaded.
pub(crate) fn shed_start_up_pages() {
    let Ok(program) = fs::read_link("/proc/self/exe") else {
        return;
    };
    let Ok(maps) = fs::read_to_string("/proc/self/maps") else {
        return;
    };
    let program = program.to_string_lossy();
    for range in maps.lines().filter_map(|line| unwritten(line, &program)) {
        // SAFETY: a private, read-only mapping of an unchanged file: dropped pages are read from the
        // file again, byte for byte, when they are next used.
        unsafe {
            libc::madvise(
                range.start as *mut libc::c_void,
                range.len(),
                libc::MADV_DONTNEED,
            )
        };
    }
}

/// The addresses of a line of `/proc/self/maps`, if it is a file's code or the program's constants.
fn unwritten(line: &str, program: &str) -> Option<Range<usize>> {
    let mut words = line.split_whitespace();
    let (start, end) = words.next()?.split_once('-')?;
    let rights = words.next()?;
    let offset = words.next()?;
    let file = words.nth(2)?;
    let is_code = rights == "r-xp" && file.starts_with('/');
    // Constants stand at the beginning of the file, before the code.
    let is_constants = rights == "r--p" && offset == "00000000" && file == program;
    if !is_code && !is_constants {
        return None;
    }
    Some(usize::from_str_radix(start, 16).ok()?..usize::from_str_radix(end, 16).ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_code_and_the_programs_own_constants_are_given_back() {
        let found = |rights: &str, offset: &str, path: &str| {
            unwritten(
                &format!("1000-3000 {rights} {offset} fe:00 7 {path}"),
                "/bin/impact",
            )
        };
        assert_eq!(
            found("r-xp", "00001000", "/bin/impact"),
            Some(0x1000..0x3000)
        );
        assert_eq!(
            found("r--p", "00000000", "/bin/impact"),
            Some(0x1000..0x3000)
        );
        assert_eq!(
            found("r--p", "00009000", "/bin/impact"),
            None,
            "may hold addresses"
        );
        assert_eq!(found("rw-p", "00000000", "/bin/impact"), None);
        assert_eq!(
            found("r-xp", "00026000", "/lib/libc.so.6"),
            Some(0x1000..0x3000)
        );
        assert_eq!(found("r--p", "00000000", "/lib/libc.so.6"), None);
        assert_eq!(found("r-xp", "00000000", "[vdso]"), None);
    }

    #[test]
    fn the_program_goes_on_after_giving_pages_back() {
        let before = "still here".to_owned();
        shed_start_up_pages();
        assert_eq!(before, "still here");
    }
}
