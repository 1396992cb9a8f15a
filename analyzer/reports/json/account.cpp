#include "reports/json/account.h"

#include <algorithm>

namespace plumb {

namespace {

Json line_object(const AccountLine& line, double all_s) {
    Json places = Json::array();
    for (const AccountLine::Place& place : line.places)
        places.push_back({{"file", place.frame.file},
                          {"line", place.frame.line},
                          {"function", place.frame.function},
                          {"module", place.frame.module},
                          {"seconds", place.seconds}});
    return {{"class", to_string(line.kind)},
            {"wait", line.kind == TimeClass::blocked ? Json(to_string(line.wait)) : Json(nullptr)},
            {"detail", line.detail},
            {"words", words_of(line)},
            {"seconds", line.seconds},
            {"fraction", all_s > 0 ? std::min(1.0, line.seconds / all_s) : 0},
            {"where", places}};
}

} // namespace

Json account_object(const TimeAccount& account) {
    Json lines = Json::array();
    for (const AccountLine& line : account.lines)
        lines.push_back(line_object(line, account.own_s()));
    Json wall = Json::array();
    for (const AccountLine& line : account.wall)
        wall.push_back(line_object(line, account.wall_s));
    return {{"thread_seconds", account.total_s},
            {"idle_seconds", account.idle_s},
            {"idle_threads", account.idle_threads},
            {"handed_over_seconds", account.handed_over_s},
            {"blocked_threads_seen", account.looked},
            {"lines", lines},
            {"wall_seconds", account.wall_s},
            {"wall", wall}};
}

} // namespace plumb
