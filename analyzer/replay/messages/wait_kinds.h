// Which waits of receivers end with messages from their own host and from others: such a wait ends with the slowest message, and when the
// others came is not known.
#pragma once

#include "replay/events/job.h"

#include <cstdint>
#include <vector>

namespace plumb::replay {

class WaitKinds {
  public:
    // `is_thinned`: other messages of a wait may not have been kept; then all waits at a call site count as one.
    WaitKinds(const Job& job, bool is_thinned);

    // A message that was received, by rows; `wait`: when the receiver began to wait for it.
    void take(uint32_t receiver, uint32_t sender, Nanoseconds wait, uint32_t wait_site);
    void settle(); // after the last one
    bool are_mixed(uint32_t receiver, Nanoseconds wait, uint32_t wait_site) const;

  private:
    struct Wait {
        uint32_t receiver = 0;
        int64_t which = 0;
        bool has_own_host = false, has_others = false;
    };
    int64_t which(Nanoseconds wait, uint32_t wait_site) const { return is_thinned_ ? wait_site : wait; }

    const Job* job_;
    bool is_thinned_, has_hosts_;
    std::vector<Wait> waits_;
};

} // namespace plumb::replay
