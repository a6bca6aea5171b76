# Read by ctest before it runs anything: a broken promise to GLib ends the program, in lptc as in the unit tests;
# all programs that run are checked after each pass that made them.
#
# SPDX-License-Identifier: Apache-2.0
set (ENV{G_DEBUG} fatal-criticals)
set (ENV{LPT_PLAN_CHECK} 1)
