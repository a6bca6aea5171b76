# Read by ctest before it runs anything: a broken promise to GLib ends the program, in lptc as in the unit tests.
#
# SPDX-License-Identifier: Apache-2.0
set (ENV{G_DEBUG} fatal-criticals)
