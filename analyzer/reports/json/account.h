// The time account in JSON.
#pragma once

#include "analyses/time/time_account.h"
#include "reports/json/document.h"

namespace plumb {

Json account_object(const TimeAccount& account);

} // namespace plumb
