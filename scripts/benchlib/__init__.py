# SPDX-License-Identifier: (GPL-2.0-only OR Linux-OpenIB)
"""What scripts/bench measures, and how it is shown."""
