// plumb scale as a JSON document in the schema plumb-scaling/1 (scaling.schema.json).
#pragma once

#include "scale/scaling.h"

#include <string>

namespace plumb {

std::string scaling_json(const scale::Scaling& scaling);

} // namespace plumb
