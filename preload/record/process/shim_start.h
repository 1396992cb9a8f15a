// Marks the calling thread as the one that starts the shim.
#pragma once

#include "platform/os/hidden.h"

namespace plumb::shim {

class ShimStart {
  public:
    ShimStart() { under_way_ = true; }
    ~ShimStart() { under_way_ = false; }
    ShimStart(const ShimStart&) = delete;
    ShimStart& operator=(const ShimStart&) = delete;

    static bool is_under_way() { return under_way_; } // in this thread; signal-safe

  private:
    static inline __thread bool under_way_ PLUMB_HIDDEN = false;
};

} // namespace plumb::shim
