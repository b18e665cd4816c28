"""Pages that show a plan or a lift: one self-contained HTML file, from the objects that the compiler has made anyway.

`plan_page` and `lift_page` are all there is to call. The pages need no network, and no script to be read.
"""

from __future__ import annotations

from intentc.viewer.lifts import lift_page
from intentc.viewer.plans import plan_page

__all__ = ["lift_page", "plan_page"]
