#pragma once

#include "repeat/repetition.h"

#include <string>

namespace plumb {

// Schema plumb-repetition/1.
std::string repetition_json(const repeat::Repetition& repetition);

} // namespace plumb
