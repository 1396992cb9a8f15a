// A job's place in a network as JSON: a versioned interface, "plumb-topology-report/1".
#pragma once

#include "network/study.h"

#include <string>

namespace plumb {

// With the whole order. The same study gives the same text. With a newline at its end.
std::string topology_json(const network::Study& study);

} // namespace plumb
