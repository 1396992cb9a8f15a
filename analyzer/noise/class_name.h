// Names of classes, from what is known of them: "640 us every 125 ms on all nodes".
#pragma once

#include "model/noise.h"

#include <string>

namespace plumb::noise {

std::string class_name(const model::NoiseClass& noise, uint32_t nodes);

} // namespace plumb::noise
