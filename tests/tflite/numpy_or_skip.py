"""numpy as np, or the end of a test that needs it: a TAP line and exit code 77, which CTest counts as skipped.

To be imported before the other modules of this folder, which need it themselves.

SPDX-License-Identifier: Apache-2.0
"""
import sys

try:
    import numpy as np  # noqa: F401
except ImportError:
    print("1..0 # SKIP numpy is not there")
    sys.exit(77)
