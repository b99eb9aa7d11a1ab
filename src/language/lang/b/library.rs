//! The definition files that come with ProB. They declare functions of ProB's kernel with stand-ins
//! for their bodies. A machine may include such a file without having it beside it. Many of the
//! functions exist here too ([`crate::lang::external`]); a machine is refused only when it uses
//! another one. Those that merely print or steer ProB's solver are known and mean nothing.
//!
//! Two machines that come with ProB, LibraryMath and LibraryStrings, make constants of such functions. They are here
//! with the constants whose functions exist; the others are refused where they are used.

/// What a function of the library amounts to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Meaning {
    /// A predicate that is true, of so many arguments.
    True(usize),
    /// A substitution that does nothing, of so many arguments.
    Skip(usize),
    /// Its last argument, of so many.
    Last(usize),
    /// It computes something: not supported unless [`crate::lang::external`] has it.
    Kernel,
}

use Meaning::*;

const IO: &[(&str, Meaning)] = &[
    ("PRINT", Skip(1)),
    ("PRINTF", Skip(2)),
    ("FPRINTF", Skip(3)),
    ("SLEEP", Skip(1)),
    ("printf", True(2)),
    ("printf1", True(2)),
    ("printf_nonvar", True(2)),
    ("tprintf", True(2)),
    ("iprintf", True(2)),
    ("printf_opt_trace", True(3)),
    ("printf_two", True(4)),
    ("dprintf", True(2)),
    ("fprintf", True(3)),
    ("observe", True(1)),
    ("tobserve", True(1)),
    ("observe_fun", True(1)),
    ("ENUMERATE", True(1)),
    ("vprintf", Last(2)),
    ("fvprintf", Last(3)),
    ("ARGC", Kernel),
    ("ARGV", Kernel),
    ("ADD_ERROR", Kernel),
    ("CURRENT_FILE_POSITION", Kernel),
    ("DELTA_WALLTIME", Kernel),
    ("EOF", Kernel),
    ("EOF_STDIN", Kernel),
    ("FORMAT_TO_STRING", Kernel),
    ("GET_CODE", Kernel),
    ("GET_CODE_STDIN", Kernel),
    ("GET_INFO", Kernel),
    ("INT_TO_STRING", Kernel),
    ("READ_FILE_AS_STRINGS", Kernel),
    ("READ_LINE", Kernel),
    ("SEE", Kernel),
    ("SEEN", Kernel),
    ("SET_PREF", Kernel),
    ("STRING_TO_ENUM", Kernel),
    ("TIME", Kernel),
    ("TIMESTAMP", Kernel),
    ("TIMESTAMP_INFO", Kernel),
    ("TO_STRING", Kernel),
    ("TYPED_STRING_TO_ENUM", Kernel),
];

const STRINGS: &[(&str, Meaning)] = &[
    ("CODES_TO_STRING", Kernel),
    ("DEC_STRING_TO_INT", Kernel),
    ("FORMAT_TO_STRING", Kernel),
    ("INT_TO_DEC_STRING", Kernel),
    ("INT_TO_STRING", Kernel),
    ("STRING_APPEND", Kernel),
    ("STRING_CHARS", Kernel),
    ("STRING_CODES", Kernel),
    ("STRING_CONC", Kernel),
    ("STRING_CONTAINS_STRING", Kernel),
    ("STRING_EQUAL_CASE_INSENSITIVE", Kernel),
    ("STRING_IS_ALPHANUMERIC", Kernel),
    ("STRING_IS_DECIMAL", Kernel),
    ("STRING_IS_INT", Kernel),
    ("STRING_IS_NUMBER", Kernel),
    ("STRING_JOIN", Kernel),
    ("STRING_LENGTH", Kernel),
    ("STRING_PADLEFT", Kernel),
    ("STRING_REPLACE", Kernel),
    ("STRING_REV", Kernel),
    ("STRING_SPLIT", Kernel),
    ("STRING_TO_ENUM", Kernel),
    ("STRING_TO_INT", Kernel),
    ("STRING_TO_LOWER", Kernel),
    ("STRING_TO_UPPER", Kernel),
    ("SUB_STRING", Kernel),
    ("TO_STRING", Kernel),
    ("TYPED_STRING_TO_ENUM", Kernel),
];

const META: &[(&str, Meaning)] = &[
    ("CURRENT_STATE_ID", Kernel),
    ("EVAL", Kernel),
    ("FORMULA_INFOS", Kernel),
    ("FORMULA_VALUES", Kernel),
    ("GET_PREF", Kernel),
    ("GET_PREF_DEFAULT", Kernel),
    ("HISTORY", Kernel),
    ("MACHINE_INFO", Kernel),
    ("PROB_INFO_STR", Kernel),
    ("PROB_STATISTICS", Kernel),
    ("PROJECT_INFO", Kernel),
    ("PROJECT_STATISTICS", Kernel),
    ("SET_PREF", Kernel),
    ("STATE_AS_STRING", Kernel),
    ("STATE_SAT", Kernel),
    ("STATE_SUCC", Kernel),
    ("STATE_TRANS", Kernel),
    ("STATE_TRANS_ARGS", Kernel),
];

const MATH: &[(&str, Meaning)] = &[
    ("ABS", Kernel),
    ("COS", Kernel),
    ("COSx", Kernel),
    ("GCD", Kernel),
    ("LOGx", Kernel),
    ("MSB", Kernel),
    ("SIN", Kernel),
    ("SINx", Kernel),
    ("TAN", Kernel),
    ("TANx", Kernel),
];

const RANDOM: &[(&str, Meaning)] = &[
    ("RANDOM", Kernel),
    ("random_element", Kernel),
    ("random_permutation", Kernel),
    ("random_subset", Kernel),
];

const BITS: &[(&str, Meaning)] = &[
    ("BAND", Kernel),
    ("BLSHIFT", Kernel),
    ("BNOT", Kernel),
    ("BOR", Kernel),
    ("BRSHIFT", Kernel),
    ("BXOR", Kernel),
];

const PROB: &[(&str, Meaning)] = &[
    ("ASSERT_EXPR", Kernel),
    ("ASSERT_TRUE", Kernel),
    ("DO_NOT_ENUMERATE", True(1)),
    ("ENUMERATE", True(1)),
    ("FORCE", Last(1)),
];

const XML: &[(&str, Meaning)] = &[
    ("READ_XML", Kernel),
    ("READ_XML_FROM_STRING", Kernel),
    ("WRITE_XML", Kernel),
    ("WRITE_XML_TO_STRING", Kernel),
];

/// The functions of a library file, by the file's name.
pub(super) fn contents(file: &str) -> Option<&'static [(&'static str, Meaning)]> {
    Some(match file {
        "CHOOSE.def" => &[("CHOOSE", Kernel)],
        "SORT.def" => &[("SORT", Kernel), ("SQUASH", Kernel)],
        "LibraryIO.def" => IO,
        "LibraryStrings.def" => STRINGS,
        "LibraryMeta.def" => META,
        "LibraryMath.def" => MATH,
        "LibraryRandom.def" => RANDOM,
        "LibraryBits.def" => BITS,
        "LibraryProB.def" => PROB,
        "LibraryXML.def" => XML,
        "LibraryHash.def" => &[("HASH", Kernel), ("SHA_HASH", Kernel)],
        _ => return None,
    })
}

/// A machine of the library, for machines that refer to it without having it beside them.
pub(super) fn machine(name: &str) -> Option<&'static str> {
    match name {
        "LibraryMath" => Some(MATH_MACHINE),
        "LibraryStrings" => Some(STRINGS_MACHINE),
        _ => None,
    }
}

const MATH_MACHINE: &str = "MACHINE LibraryMath
ABSTRACT_CONSTANTS gcd, abs
PROPERTIES
  gcd = %(x, y).(x : INTEGER & y : INTEGER | GCD(x, y)) &
  abs = %x.(x : INTEGER | ABS(x))
END
";

const STRINGS_MACHINE: &str = "MACHINE LibraryStrings
ABSTRACT_CONSTANTS
  append, length, split, join, chars, codes, str2int, int2str, strIsInt, strIsInStr, int2decStr, decStr2int
PROPERTIES
  append = %(s, t).(s : STRING & t : STRING | STRING_APPEND(s, t)) &
  length = %s.(s : STRING | STRING_LENGTH(s)) &
  split = %(s, t).(s : STRING & t : STRING | STRING_SPLIT(s, t)) &
  join = %(s, t).(s : INTEGER <-> STRING & t : STRING | STRING_JOIN(s, t)) &
  chars = %s.(s : STRING | STRING_CHARS(s)) &
  codes = %s.(s : STRING | STRING_CODES(s)) &
  str2int = %s.(s : STRING | STRING_TO_INT(s)) &
  int2str = %i.(i : INTEGER | INT_TO_STRING(i)) &
  strIsInt = %s.(s : STRING | bool(STRING_IS_INT(s))) &
  strIsInStr = %(s, t).(s : STRING & t : STRING | STRING_CONTAINS_STRING(s, t)) &
  int2decStr = %(i, p).(i : INTEGER & p : INTEGER | INT_TO_DEC_STRING(i, p)) &
  decStr2int = %(s, p).(s : STRING & p : INTEGER | DEC_STRING_TO_INT(s, p))
END
";

/// Whether the stand-in that a file gives for an external function is all there is to it.
pub(super) fn is_harmless(name: &str) -> bool {
    IO.iter().chain(PROB).any(|(n, meaning)| *n == name && *meaning != Kernel)
}

/// Files of the library whose functions are not listed: including one is an error.
pub(super) fn is_library(file: &str) -> bool {
    file.starts_with("Library") || matches!(file, "SCCS.def" | "CHOOSE.def" | "SORT.def")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lang::external::{External, is_foreign, is_silent};

    /// A function of a library file means something here, means nothing, or is refused by its name also where no
    /// file declares it.
    #[test]
    fn every_function_of_the_library_has_its_place() {
        for table in [IO, STRINGS, META, MATH, RANDOM, BITS, PROB, XML] {
            for (name, meaning) in table {
                let exists = External::named(name, 0).is_some();
                match meaning {
                    Kernel => assert!(exists != is_foreign(name), "{name}"),
                    True(_) | Skip(_) | Last(_) => assert!(is_silent(name) && !exists, "{name}"),
                }
            }
        }
    }
}
