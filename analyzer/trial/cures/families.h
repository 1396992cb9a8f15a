// The families of cures, one file each. Each lists all of its cures and says which do not apply, from the facts alone.
#pragma once

#include "trial/cure.h"

#include <vector>

namespace plumb::trial {

std::vector<Cure> placement_cures(const Facts& facts);
std::vector<Cure> memory_policy_cures(const Facts& facts);
std::vector<Cure> allocator_cures(const Facts& facts);
std::vector<Cure> malloc_setting_cures(const Facts& facts);
std::vector<Cure> openmp_cures(const Facts& facts);
std::vector<Cure> mpi_cures(const Facts& facts);
std::vector<Cure> library_cures(const Facts& facts);

// From this share of the thread time on, a figure of the run speaks for a cure that no finding advises.
inline constexpr double kSpeaksFor = 0.03;

} // namespace plumb::trial
