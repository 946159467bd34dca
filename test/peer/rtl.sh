#!/usr/bin/env bash
# Shipped networks on an accelerator in SystemVerilog, blamed: test/interp/blame/rtl. Needs Verilator and a C++
# compiler (apt: verilator, make, g++).
#
#   test/peer/rtl.sh ASSAY SOURCE [--few] [--table]     TAP on standard output
set -u
exec /usr/bin/python3 -B "$2/test/interp/blame/rtl/rtl.py" "$@"
