// plumb scale as a page of text.
#pragma once

#include "reports/text/terminal.h"
#include "scale/scaling.h"

#include <string>

namespace plumb {

std::string scaling_text(const scale::Scaling& scaling, const TextStyle& style);

} // namespace plumb
