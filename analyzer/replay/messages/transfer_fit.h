// Latency and bandwidth of messages, from messages whose receiver was waiting already when they were sent.
#pragma once

#include "model/mpi_job.h"
#include "replay/messages/messages.h"

namespace plumb::replay {

struct TransferFits {
    model::MpiTransferFit within_host, between_hosts;
};

// Of waits that are mixed (WaitKinds), messages from the own host are left out. Robust: the median time of each octave of sizes, then
// the median of the slopes between all pairs of octaves (Theil and Sen); slopes below 0 count as 0.
TransferFits fit_transfers(const Job& job, const MatchedMessages& messages);

} // namespace plumb::replay
