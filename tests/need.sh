# need COMMAND PACKAGE...: installs Debian's packages if the command is not there, and says so.
need() {
    local command=$1
    shift
    command -v "$command" > /dev/null && return
    if ! command -v apt-get > /dev/null; then
        echo "tests need $command: install it with your package manager (on Debian: $*) and start again"
        exit 1
    fi
    echo "tests need $command: installing $*"
    local root=()
    [ "$(id -u)" = 0 ] || root=(sudo)
    "${root[@]}" apt-get update -qq
    "${root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$@" > /dev/null
}
