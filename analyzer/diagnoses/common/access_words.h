// How reports and findings speak of accesses and of what they touch.
#pragma once

#include "analyses/accesses/touched_data.h"
#include "model/alignment.h"

#include <cstdint>
#include <string>

namespace plumb {

// "8-byte load", "4-byte load and store", "16-byte vector store", "locked 8-byte access", "8-byte stack access". Of
// many: "8-byte loads", "4-byte loads and stores", ...
std::string access_words(const model::AccessKind& kind, bool many = false);

// "of", "to", "of and to": what stands between the access and its object.
const char* access_preposition(const model::AccessKind& kind);

// "common block /pair/ member x (offset 4)", "variable table (offset 12)", "member weight (offset 5) of struct record
// in the block allocated at io.c:12", "the block allocated at io.c:12 (offset 3)", "unnamed memory".
std::string object_words(const TouchedData& data);

std::string grouped(uint64_t count); // "1,000,000"

} // namespace plumb
