// Inputs that are lists of records: what stands around them (headers, chunks, sizes) is put right, so that every change of an
// input reaches those who read the records.
#pragma once

#include "target.h"

#include <cstddef>

#include <plumb/trace_format.h>

namespace plumb::fuzz {

// A file of `writer` with the records of `input`, one behind the other. Each gets the size that its type has; the text of a
// string is as long as it says, at most as long as there is input.
std::vector<std::byte> trace_of_records(Bytes input, trace::Writer writer);

// The other way: the records of a trace file alone, at most `most` bytes of them.
std::string records_of_trace(std::span<const std::byte> trace, size_t most);

} // namespace plumb::fuzz
