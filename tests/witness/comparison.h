// Whether two walks of the same stack agree, and if not, why not.
#pragma once

#include "walker.h"

namespace plumb::witness {

enum class Agreement {
    same,
    no_description,     // of a frame on the way there is no call-frame information: each guessed its caller
    another_register,   // ours ends where a caller is found by a register that it does not follow
    hidden_description, // libunwind was given no table where there is a description; libdwfl read it, and agrees with ours
    gave_up,            // libunwind could not evaluate a description; libdwfl could, and agrees with ours
    two_files,          // one file after another was mapped at an address on the way, and the witness does not know which one then
    unexplained,
};
constexpr size_t kAgreements = 7;
constexpr const char* kAgreementNames[kAgreements] = {"same",    "no_description", "another_register", "hidden_description",
                                                      "gave_up", "two_files",      "unexplained"};

// Libdwfl takes the end of the copied stack for the outermost frame, so only its frames are compared.
Agreement compare_with_libdwfl(const Walk& ours, const Walk& libdwfl, const ModuleFiles& files, LibdwflWalker& descriptions);
Agreement compare_with_libunwind(const Walk& ours, const Walk& libunwind, const Walk& libdwfl, const ModuleFiles& files,
                                 LibdwflWalker& descriptions);

} // namespace plumb::witness
