// The JSON form of a measurement of noise.
#pragma once

#include "analysis/report.h"
#include "reports/json/document.h"

namespace plumb {

Json noise_object(const Report& report); // of a report that has one

} // namespace plumb
