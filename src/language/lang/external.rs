//! Functions that are no keywords: those of ProB's kernel that exist here too, and B's operators on trees. A machine
//! gets the former from a definition file of ProB's library, declares them itself (`EXTERNAL_FUNCTION_STRING_LENGTH`),
//! or just uses them. A model may use the names for something else.
//!
//! What they mean is said in `value::external` and `value::tree`, their types in `model::check::rules`.

macro_rules! externals {
    ($($variant:ident $name:literal $arity:literal),* $(,)?) => {
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum External {
            $($variant),*
        }

        impl External {
            pub const ALL: &'static [External] = &[$(External::$variant),*];

            pub fn name(self) -> &'static str {
                match self {
                    $(External::$variant => $name),*
                }
            }

            /// How many arguments it takes.
            pub fn arity(self) -> usize {
                match self {
                    $(External::$variant => $arity),*
                }
            }
        }
    };
}

externals! {
    Choose "CHOOSE" 1,
    Sort "SORT" 1,
    Squash "SQUASH" 1,
    Less "LESS" 2,
    StringLength "STRING_LENGTH" 1,
    StringAppend "STRING_APPEND" 2,
    StringConc "STRING_CONC" 1,
    StringSplit "STRING_SPLIT" 2,
    StringJoin "STRING_JOIN" 2,
    StringChars "STRING_CHARS" 1,
    StringCodes "STRING_CODES" 1,
    CodesToString "CODES_TO_STRING" 1,
    StringContains "STRING_CONTAINS_STRING" 2,
    StringIsInt "STRING_IS_INT" 1,
    StringToInt "STRING_TO_INT" 1,
    IntToString "INT_TO_STRING" 1,
    DecStringToInt "DEC_STRING_TO_INT" 2,
    IntToDecString "INT_TO_DEC_STRING" 2,
    StringToEnum "STRING_TO_ENUM" 1,
    TypedStringToEnum "TYPED_STRING_TO_ENUM" 2,
    ToString "TO_STRING" 1,
    FormatToString "FORMAT_TO_STRING" 2,
    BitNot "BNOT" 1,
    BitAnd "BAND" 2,
    BitOr "BOR" 2,
    BitXor "BXOR" 2,
    ShiftLeft "BLSHIFT" 2,
    ShiftRight "BRSHIFT" 2,
    Abs "ABS" 1,
    Gcd "GCD" 2,
    AssertTrue "ASSERT_TRUE" 2,
    AssertExpr "ASSERT_EXPR" 3,
    TreeTop "top" 1,
    TreeConst "const" 2,
    TreeSons "sons" 1,
    TreePrefix "prefix" 1,
    TreePostfix "postfix" 1,
    TreeInfix "infix" 1,
    TreeSize "sizet" 1,
    TreeMirror "mirror" 1,
    TreeRank "rank" 2,
    TreeFather "father" 2,
    TreeSon "son" 3,
    TreeSub "subtree" 2,
    TreeArity "arity" 2,
    TreeLeaf "bin" 1,
    TreeBin "bin" 3,
    TreeLeft "left" 1,
    TreeRight "right" 1,
}

impl External {
    /// The function of that name; the one of so many arguments, if there is a choice.
    pub fn named(name: &str, args: usize) -> Option<External> {
        let named = || External::ALL.iter().copied().filter(|f| f.name() == name);
        named().find(|f| f.arity() == args).or_else(|| named().next())
    }

    /// Whether it is an operator on trees, which belongs to B and not to ProB's kernel.
    pub fn is_of_trees(self) -> bool {
        use External::*;
        matches!(
            self,
            TreeTop | TreeConst | TreeSons | TreePrefix | TreePostfix | TreeInfix | TreeSize | TreeMirror
        ) || matches!(
            self,
            TreeRank | TreeFather | TreeSon | TreeSub | TreeArity | TreeLeaf | TreeBin | TreeLeft | TreeRight
        )
    }

    /// Whether it is written as a predicate. In the typed model it has a truth value, which is compared with TRUE.
    pub fn is_predicate(self) -> bool {
        matches!(self, External::StringIsInt | External::Less | External::AssertTrue)
    }

    /// Whether its value depends on the names or the order of the elements of given sets.
    pub fn sees_elements(self) -> bool {
        use External::*;
        matches!(self, Choose | Sort | Less | StringToEnum | TypedStringToEnum | ToString | FormatToString)
    }
}

/// Functions, predicates and substitutions of ProB's kernel that do not exist here: files, time, chance, ProB's own
/// state, its optimiser, hashes and trigonometry. They are no keywords either: a model may use the names.
const FOREIGN: &[&str] = &[
    "ADD_ERROR",
    "ARGC",
    "ARGV",
    "CHECK_DET",
    "COS",
    "COSx",
    "CURRENT_FILE_POSITION",
    "CURRENT_STATE_ID",
    "DEBUG_PRINT_STATE",
    "DELTA_WALLTIME",
    "DIRECTORIES",
    "DIRECTORY_EXISTS",
    "DIRECTORY_PROPERTY",
    "DIRECTORY_PROPERTY_VALUE",
    "EOF",
    "EOF_STDIN",
    "EVAL",
    "FILES",
    "FILE_EXISTS",
    "FILE_PROPERTY",
    "FILE_PROPERTY_VALUE",
    "FORMULA_INFOS",
    "FORMULA_VALUES",
    "FULL_DIRECTORIES",
    "FULL_FILES",
    "GET_CODE",
    "GET_CODE_STDIN",
    "GET_INFO",
    "GET_PREF",
    "GET_PREF_DEFAULT",
    "HASH",
    "HISTORY",
    "LEQ_SYM",
    "LEQ_SYM_BREAK",
    "LOGx",
    "MACHINE_INFO",
    "MAXIMIZE",
    "MAXIMIZE_EXPR",
    "MAX_SAT",
    "MINIMIZE",
    "MINIMIZE_EXPR",
    "MSB",
    "PRINT_BT",
    "PROB_INFO_STR",
    "PROB_STATISTICS",
    "PROJECT_INFO",
    "PROJECT_STATISTICS",
    "RANDOM",
    "READ_CSV",
    "READ_CSV_STRINGS",
    "READ_FILE_AS_STRINGS",
    "READ_LINE",
    "READ_XML",
    "READ_XML_FROM_STRING",
    "SEE",
    "SEEN",
    "SET_PREF",
    "SHA_HASH",
    "SIN",
    "SINx",
    "STATE_AS_STRING",
    "STATE_SAT",
    "STATE_SUCC",
    "STATE_TRANS",
    "STATE_TRANS_ARGS",
    "STRING_EQUAL_CASE_INSENSITIVE",
    "STRING_IS_ALPHANUMERIC",
    "STRING_IS_DECIMAL",
    "STRING_IS_NUMBER",
    "STRING_PADLEFT",
    "STRING_REPLACE",
    "STRING_REV",
    "STRING_TO_LOWER",
    "STRING_TO_UPPER",
    "SUB_STRING",
    "TAN",
    "TANx",
    "TIME",
    "TIMESTAMP",
    "TIMESTAMP_INFO",
    "UNSAT_CORE",
    "UNSAT_CORE_ACC",
    "UNSAT_CORE_ACC_TIMEOUT",
    "WRITE_XML",
    "WRITE_XML_TO_STRING",
    "random_element",
    "random_permutation",
    "random_subset",
];

/// Whether a name that the model gives no meaning to is a function of ProB's kernel that does not exist here.
pub fn is_foreign(name: &str) -> bool {
    FOREIGN.contains(&name)
}

/// The constants of ProB's library machines that do not exist here, and their machines.
const LIBRARY_CONSTANTS: [(&str, &[&str]); 2] = [
    ("LibraryMath", &["cos", "cosx", "logx", "msb", "random", "sin", "sinx", "tan", "tanx"]),
    ("LibraryStrings", &["hash"]),
];

/// The machine of ProB's library that has a constant of this name, if that constant does not exist here.
pub fn library_of(name: &str) -> Option<&'static str> {
    LIBRARY_CONSTANTS.iter().find(|(_, names)| names.contains(&name)).map(|(machine, _)| *machine)
}

/// Those that print, or steer ProB's solver: they mean nothing here, but only where a definition file says that they
/// are meant, since `printf` may be a misspelt name as well.
const SILENT: &[&str] = &[
    "DO_NOT_ENUMERATE",
    "ENUMERATE",
    "FORCE",
    "FPRINTF",
    "PRINT",
    "PRINTF",
    "SLEEP",
    "dprintf",
    "fprintf",
    "fvprintf",
    "iprintf",
    "observe",
    "observe_fun",
    "printf",
    "printf1",
    "printf_nonvar",
    "printf_opt_trace",
    "printf_two",
    "tobserve",
    "tprintf",
    "vprintf",
];

pub fn is_silent(name: &str) -> bool {
    SILENT.contains(&name)
}
