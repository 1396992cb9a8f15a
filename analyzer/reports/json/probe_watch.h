// plumb probe --every as JSON: the schema is probe-watch.schema.json.
#pragma once

#include "probe/watch/watch_machine.h"

#include <string>

namespace plumb {

std::string probe_watch_json(const probe::Watched& watched);

} // namespace plumb
