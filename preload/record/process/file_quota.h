// Shares of the trace file. What a program can produce without end (threads, names, module loads) may fill its share
// and no more, so that a storm of one kind does not cost the others their room.
#pragma once

#include "record/process/trace_writer.h"

namespace plumb::shim {

enum class FileQuota : uint32_t { threads, names, modules, alignment, openmp, count };

// Whether `bytes` more of this kind may be written; when its share is used up that is written as evidence, once.
bool spend(const Guard&, FileQuota, uint32_t bytes);

// In a forked child: nothing is spent yet.
void reset_file_quotas();

} // namespace plumb::shim
