# What campaigns and the CI run share; sourced in this folder.

# Builds all targets, without a sanitizer: there is no unsafe code here.
build() {
    cargo +nightly fuzz build --fuzz-dir . -O -s none --no-trace-compares
    binaries=${CARGO_TARGET_DIR:-target}/$(rustc +nightly --print host-tuple)/release
}

# A target's options, as ClusterFuzz reads them, as arguments.
options() {
    [ -e "$1.options" ] || return 0
    sed -n 's/^dict *= */&dictionaries\//; s/^\([a-z_]*\) *= *\(.*\)/-\1=\2/p' "$1.options"
}
