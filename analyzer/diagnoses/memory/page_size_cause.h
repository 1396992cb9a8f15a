// Why memory lies on small pages, and what gives it huge ones.
#pragma once

#include "diagnoses/finding.h"
#include "model/run.h"

#include <string>
#include <vector>

namespace plumb {

enum class SmallPageCause {
    not_built,  // the kernel knows no transparent huge pages
    never,      // they are switched off
    refused,    // for this process: prctl
    forbidden,  // for this memory: madvise
    file,       // it is a file's
    shared,     // shared memory, which has a setting of its own
    not_asked,  // the kernel waits for madvise, and nobody called it
    not_given,  // the kernel would give them, but had none or did not come to it
};

SmallPageCause small_page_cause(const model::PageScatter& scatter, const model::HugePages& settings);

// One sentence without its full stop.
std::string words(SmallPageCause cause, const model::PageScatter& scatter, const model::HugePages& settings);

// `from_allocator`: the memory came from malloc and its like. The best first.
std::vector<Advice> huge_page_advice(SmallPageCause cause, const model::PageScatter& scatter, bool from_allocator,
                                     const model::Run& run);

} // namespace plumb
