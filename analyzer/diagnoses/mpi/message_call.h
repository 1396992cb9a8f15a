// Which calls of an MPI program carry messages from rank to rank and nothing else.
#pragma once

#include "model/run.h"

#include <plumb/trace_format.h>

namespace plumb {

// Sends, receives and waits for them; neither collectives nor tests and probes, whose time is a program's own loop.
inline bool carries_messages(const model::MpiCallSite& site) {
    return (site.kind & (trace::kMpiSend | trace::kMpiReceive | trace::kMpiWait)) &&
           !(site.kind & (trace::kMpiCollectiveCall | trace::kMpiPoll | trace::kMpiProbe));
}

} // namespace plumb
