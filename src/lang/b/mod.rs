//! Classical B: lexer, parser, macro definitions, composition of machines.
