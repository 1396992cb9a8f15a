// plumb probe --every: how slow the machine was, and who was busy then.
#pragma once

#include "probe/watch/watch_machine.h"
#include "reports/text/terminal.h"

#include <string>

namespace plumb {

std::string probe_watch_text(const probe::Watched& watched, const TextStyle& style);

} // namespace plumb
