#!/bin/sh
# Runs a compiler, through ccache where there is one: cmake/compile.sh COMPILER ARGUMENT...
# What one clone has compiled serves another: ccache takes paths relative to the tree.
if command -v ccache >/dev/null; then
    CCACHE_BASEDIR=${0%/cmake/compile.sh} CCACHE_NOHASHDIR=1 exec ccache "$@"
fi
exec "$@"
