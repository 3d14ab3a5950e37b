#include "ksana/engine/dispatch/attempt_news.hpp"

#include <utility>

#include "ksana/model/run/attempt_log.hpp"

namespace ksana::engine {

void Append(AttemptNews& news, AttemptNews more) {
    if (more.empty()) return;
    if (more.progress) {
        news.progress = more.progress;
        news.note.clear();
    }
    if (!more.note.empty()) news.note = std::move(more.note);
    if (more.log.empty()) return;
    if (news.log.empty()) {
        news.log = std::move(more.log);
    } else {
        news.log.append(",").append(more.log);
    }
    news.log.erase(0, news.log.size() - model::NewestLines(news.log).size());
}

void PutInto(model::Event& renewal, const AttemptNews& news) {
    if (news.empty()) return;
    renewal.progress = news.progress;
    renewal.note = news.note;
    renewal.log = news.log;
}

}  // namespace ksana::engine
