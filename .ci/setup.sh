# Sourced by ./kanon and ./test: makes sure of everything that a build needs.
# Expects $here, the root of the repository.
#
# Nothing is installed without a word about it. On a terminal the user is asked first; without one, as
# in CI, the installation goes ahead. Whoever declines is told what to run by hand.

say() { printf '%s\n' "$*" >&2; }

as_root() {
    if [ "$(id -u)" = 0 ]; then "$@"
    elif command -v sudo >/dev/null 2>&1; then sudo "$@"
    else return 1
    fi
}

# Is somebody there to answer?
is_terminal() { [ -z "${CI:-}" ] && [ -t 0 ] && [ -t 2 ]; }

# agreed COMMAND: announces the command, and asks on a terminal.
agreed() {
    say "kanon: this command installs it: $1"
    is_terminal || return 0
    printf 'kanon: go ahead? [Y/n] ' >&2
    read -r answer || answer=n
    case $answer in '' | [Yy] | [Yy][Ee][Ss]) return 0 ;; *) return 1 ;; esac
}

# install WHAT APT DNF PACMAN BREW: with the first package manager that is there, or say what to do by hand.
install() {
    what=$1
    say "kanon: $what is missing"
    if command -v apt-get >/dev/null 2>&1; then
        manager=apt-get
        command="apt-get install -y --no-install-recommends $2"
    elif command -v dnf >/dev/null 2>&1; then
        manager=dnf
        command="dnf install -y $3"
    elif command -v pacman >/dev/null 2>&1; then
        manager=pacman
        command="pacman -S --needed --noconfirm $4"
    elif command -v brew >/dev/null 2>&1; then
        manager=brew
        command="brew install $5"
    else
        say "kanon: no package manager that is known here. Please install $what:"
        say "  Debian, Ubuntu   apt-get install $2"
        say "  Fedora           dnf install $3"
        say "  Arch             pacman -S $4"
        say "  macOS            brew install $5"
        exit 2
    fi
    if ! agreed "$command"; then
        say "kanon: nothing was installed. Please install $what and try again"
        exit 2
    fi
    # shellcheck disable=SC2086 # the command is words
    case $manager in
        apt-get) as_root apt-get update >&2 && as_root env DEBIAN_FRONTEND=noninteractive $command >&2 ;;
        brew) $command >&2 ;; # brew refuses to be run as root
        *) as_root $command >&2 ;;
    esac && return 0
    say "kanon: that did not work. Please run, as root where needed:"
    say "  $command"
    exit 2
}

# any FILE...: is one of them there? (A pattern that matches nothing stays as it is, and is no file.)
any() {
    for f in "$@"; do
        [ -e "$f" ] && return 0
    done
    return 1
}

# What bindgen needs: libclang itself (not libclang-cpp, which has another interface) and clang's own headers,
# such as stddef.h.
have_libclang() {
    [ -n "${LIBCLANG_PATH:-}" ] && return 0
    any /Library/Developer/CommandLineTools/usr/lib/libclang.dylib \
        /Applications/Xcode.app/Contents/Developer/Toolchains/XcodeDefault.xctoolchain/usr/lib/libclang.dylib \
        /opt/homebrew/opt/llvm/lib/libclang.dylib /usr/local/opt/llvm/lib/libclang.dylib && return 0
    any /usr/lib/llvm*/lib/libclang.so* /usr/lib/llvm*/lib/libclang-[0-9]*.so* \
        /usr/lib/libclang.so* /usr/lib/*/libclang.so* /usr/lib/*/libclang-[0-9]*.so* \
        /usr/lib64/libclang.so* /usr/lib64/llvm*/lib*/libclang.so* /usr/local/lib/libclang.so* &&
        any /usr/lib/llvm*/lib/clang/*/include/stddef.h /usr/lib/clang/*/include/stddef.h \
            /usr/lib64/clang/*/include/stddef.h /usr/lib64/llvm*/lib*/clang/*/include/stddef.h \
            /usr/local/lib/clang/*/include/stddef.h
}

ensure_tools() {
    if ! command -v cc >/dev/null 2>&1; then
        install "a C compiler" "gcc libc6-dev" "gcc" "gcc" "gcc"
    fi
    # CaDiCaL is compiled when its crate is built.
    if grep -qi 'rustsat-cadical' "$here/Cargo.lock" && ! command -v c++ >/dev/null 2>&1; then
        install "a C++ compiler" "g++" "gcc-c++" "gcc" "gcc"
    fi
    # nauty's bindings are made from its headers when they are built.
    if grep -qi 'nauty-traces-sys' "$here/Cargo.lock" && ! have_libclang; then
        install "libclang with its headers" "libclang-dev" "clang-devel" "clang" "llvm"
    fi
    home_bin="${CARGO_HOME:-${HOME:-}/.cargo}/bin"
    [ -d "$home_bin" ] && PATH="$PATH:$home_bin"
    if ! command -v cargo >/dev/null 2>&1; then
        install "Rust (by rustup)" rustup rustup rustup rustup
        say "kanon: rustup installs its stable toolchain"
        rustup default stable >&2
        PATH="$PATH:$home_bin"
    fi
    if ! command -v cargo >/dev/null 2>&1; then
        say "kanon: please install Rust 1.88 or later with rustup"
        exit 2
    fi
    export PATH
}

# What ./test needs beyond a build: rustfmt and clippy.
ensure_components() {
    cargo fmt --version >/dev/null 2>&1 && cargo clippy --version >/dev/null 2>&1 && return 0
    say "kanon: rustfmt or clippy is missing"
    components="rustup component add rustfmt clippy"
    # shellcheck disable=SC2086 # the command is words
    agreed "$components" && $components >&2 && return 0
    say "kanon: please run: $components"
    exit 2
}

# An SMT solver is welcome, not needed: without one the obligations are only written.
ensure_solver() {
    command -v z3 >/dev/null 2>&1 || command -v cvc5 >/dev/null 2>&1 && return 0
    ( install "an SMT solver" z3 z3 z3 z3 ) ||
        say "kanon: no SMT solver; the obligations are written but not solved"
}

# What runs programs in XTL: their tests need it.
ensure_prolog() {
    command -v swipl >/dev/null 2>&1 && return 0
    install "SWI-Prolog" swi-prolog-nox pl swi-prolog swi-prolog
}

# Another model checker for circuits, which some long tests compare with, is welcome too.
ensure_abc() {
    command -v berkeley-abc >/dev/null 2>&1 && return 0
    ( install "the model checker abc" berkeley-abc abc abc abc ) ||
        say "kanon: no abc; circuits are not compared with it"
}

# Builds the release binary if anything changed, quietly unless it fails, and sets $binary.
build() {
    binary="${CARGO_TARGET_DIR:-$here/target}/release/kanon"
    [ -x "$binary" ] || say "kanon: building, once; this takes some minutes"
    cargo build --release --locked --quiet --manifest-path "$here/Cargo.toml" --bin kanon >&2 || {
        say "kanon: the build failed"
        exit 2
    }
}

# An editor and npm, for walks with the language server.
ensure_editors() {
    command -v nvim >/dev/null 2>&1 ||
        ( install "neovim" neovim neovim neovim neovim ) ||
        say "kanon: no neovim; the language server is not tried in it"
    command -v npm >/dev/null 2>&1 ||
        ( install "npm" npm npm npm node ) ||
        say "kanon: no npm; the extension for VS Code is not tried"
}

# A browser, for a walk through the page of `kanon serve`.
ensure_browser() {
    command -v chromedriver >/dev/null 2>&1 && return 0
    ( install "chromium with its driver" "chromium chromium-driver" "chromium chromedriver" chromium chromium ) ||
        say "kanon: no browser; the page of kanon serve is not looked at"
}
