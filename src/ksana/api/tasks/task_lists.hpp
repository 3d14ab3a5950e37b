#pragma once

#include <string_view>

#include "ksana/api/edge/query_reader.hpp"
#include "ksana/base/error/result.hpp"
#include "ksana/http_server/routing/message.hpp"
#include "ksana/model/run/run.hpp"
#include "ksana/store/store.hpp"

// Lists of document T: arrays, with a Link and an X-Next-Cursor to the next page.

namespace ksana::api {

inline constexpr std::size_t kTaskListSize = 100;
inline constexpr std::size_t kMaxTaskList = 500;

// What has moved to history (T-12): Success and ManuallyProcessed.
inline constexpr model::RunStates kHistoryStates = static_cast<model::RunStates>(
    model::SetOf(model::RunState::kSucceeded) | model::SetOf(model::RunState::kResolved));

// Reads `limit` and `cursor`.
template <class Query>
void ReadPlace(QueryReader& reader, Query& query) {
    query.limit = reader.Number("limit", 1, kMaxTaskList, kTaskListSize);
    query.cursor = reader.Text("cursor");
}

http_server::Response WithNextPage(const http_server::Request& request,
                                   http_server::Response response, const std::string& next);

// GET /task and GET /task-his; `states` are those that are listed where no status is asked for.
Result<http_server::Response> ListTasks(const http_server::Request& request, store::Store& store,
                                        model::RunStates states);
// GET /periodic-task-log?periodic_task_id= (T-14).
Result<http_server::Response> ListPeriodicLog(const http_server::Request& request,
                                              store::Store& store);

}  // namespace ksana::api
