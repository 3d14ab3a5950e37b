#include "ksana/mail/smtp_mailer.hpp"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>

#include "ksana/libcurl/libcurl.hpp"
#include "ksana/mail/mail_text.hpp"

namespace ksana::mail {
namespace {

using Kind = MailOutcome::Kind;

constexpr auto kLongest = std::chrono::hours(1);  // the longest delivery, whatever the deadline is
constexpr std::size_t kMaxAnswer = 200;           // bytes kept of a server's answer

struct CurlDelete {
    void operator()(CURL* handle) const { libcurl::Api().curl_easy_cleanup(handle); }
};
using Handle = std::unique_ptr<CURL, CurlDelete>;

struct ListDelete {
    void operator()(curl_slist* list) const { libcurl::Api().curl_slist_free_all(list); }
};
using List = std::unique_ptr<curl_slist, ListDelete>;

// The part of the message that is not sent yet.
struct Rest {
    std::string_view text;
};

std::size_t GiveText(char* buffer, std::size_t size, std::size_t count, void* given) {
    Rest& rest = *static_cast<Rest*>(given);
    const std::size_t some = std::min(size * count, rest.text.size());
    std::memcpy(buffer, rest.text.data(), some);
    rest.text.remove_prefix(some);
    return some;
}

int IsToStop(void* given, curl_off_t, curl_off_t, curl_off_t, curl_off_t) {
    return static_cast<const std::stop_token*>(given)->stop_requested() ? 1 : 0;
}

std::string Bracketed(const std::string& address) { return "<" + address + ">"; }

List Recipients(const Mail& mail) {
    List list;
    for (const std::string& address : mail.to) {
        curl_slist* const longer =
            libcurl::Api().curl_slist_append(list.get(), Bracketed(address).c_str());
        if (longer == nullptr) return nullptr;
        [[maybe_unused]] const curl_slist* const within = list.release();
        list.reset(longer);
    }
    return list;
}

// Collects the server's answers to each recipient. libcurl sends one command at a time and
// continues while one recipient is accepted.
struct Talk {
    std::string asked;                 // the recipient that the next answer is for; empty: none
    std::vector<std::string> refused;  // "gone@example.com (550 nobody of that name)"
    bool for_now = false;              // a recipient was refused temporarily (4xx)

    void Sent(std::string_view line) {
        constexpr std::string_view kRecipient = "RCPT TO:<";
        asked.clear();
        if (line.starts_with(kRecipient)) {
            line.remove_prefix(kRecipient.size());
            asked = line.substr(0, line.find('>'));
        }
    }
    void Got(std::string_view line) {
        const bool last = line.size() > 3 && line[3] == ' ';  // the last line of an answer
        if (asked.empty() || !last) return;
        if (!line.starts_with('2')) {
            const auto end = std::min(line.find_last_not_of("\r\n") + 1, kMaxAnswer);
            refused.push_back(fmt::format("{} ({})", asked, line.substr(0, end)));
            for_now = for_now || line.starts_with('4');
        }
        asked.clear();
    }
};

int Listen(CURL*, curl_infotype type, char* text, std::size_t size, void* given) {
    Talk& talk = *static_cast<Talk*>(given);
    if (type == CURLINFO_HEADER_OUT) talk.Sent({text, size});
    if (type == CURLINFO_HEADER_IN) talk.Got({text, size});
    return 0;
}

// Returns whether the server refused the mail itself permanently. A failed login can be corrected,
// and a temporary refusal of a recipient may pass.
bool IsFinal(CURLcode code, long response, const Talk& talk) {
    return code != CURLE_LOGIN_DENIED && response >= 550 && response < 560 && !talk.for_now;
}

}  // namespace

SmtpMailer::SmtpMailer(SmtpOptions options, const Clock& clock)
    : options_(std::move(options)),
      clock_(clock),
      thread_("smtp", [this](const std::stop_token& stop) { Run(stop); }) {}

SmtpMailer::~SmtpMailer() { Stop(); }

void SmtpMailer::Stop() {
    thread_.Stop();
    TurnAway();
}

void SmtpMailer::TurnAway() {
    std::deque<QueuedMail> letters;
    {
        const MutexLock lock(mutex_);
        letters.swap(mails_);
    }
    for (auto& [mail, done] : letters)
        done({Kind::kLater, "the server stopped before it was sent"});
}

void SmtpMailer::Send(Mail mail, Done done) {
    {
        const MutexLock lock(mutex_);
        if (mails_.size() < kMaxWaiting) {
            mails_.emplace_back(std::move(mail), std::move(done));
            changed_.NotifyOne();
            return;
        }
    }
    done({Kind::kLater, fmt::format("{} mails wait already", kMaxWaiting)});
}

void SmtpMailer::Cancel(std::string_view attempt) {
    Done done;
    {
        const MutexLock lock(mutex_);
        const auto found = std::ranges::find_if(
            mails_, [&](const QueuedMail& letter) { return letter.first.attempt == attempt; });
        if (found == mails_.end()) return;
        done = std::move(found->second);
        mails_.erase(found);
    }
    done({Kind::kTakenBack, "it was taken back before it was sent"});
}

void SmtpMailer::Run(const std::stop_token& stop) {
    for (;;) {
        QueuedMail letter;
        {
            MutexLock lock(mutex_);
            changed_.Wait(lock, stop, [this]() KSANA_REQUIRES(mutex_) { return !mails_.empty(); });
            if (stop.stop_requested()) return;
            letter = std::move(mails_.front());
            mails_.pop_front();
        }
        letter.second(Deliver(letter.first, stop));
    }
}

MailOutcome SmtpMailer::Deliver(const Mail& mail, const std::stop_token& stop) const {
    const SteadyPoint now = clock_.SteadyNow();
    if (mail.deadline <= now) return {Kind::kLater, "its time was over before it was sent"};
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(
        std::min<SteadyPoint::duration>(mail.deadline - now, kLongest));
    if (const auto loaded = libcurl::Load(); !loaded) {
        return {Kind::kLater, "SMTP: " + loaded.error().message};
    }
    const Handle handle(libcurl::Api().curl_easy_init());
    const List to = Recipients(mail);
    if (!handle || !to) return {Kind::kLater, "out of memory, or nobody to send it to"};
    const std::string text = MailToText(mail, options_.from);
    Rest rest{text};
    Talk talk;
    std::array<char, CURL_ERROR_SIZE> fault{};
    const auto set = [&handle](CURLoption option, auto value) {
        libcurl::Api().curl_easy_setopt(handle.get(), option, value);
    };
    set(CURLOPT_URL, options_.url.c_str());
    set(CURLOPT_PROTOCOLS_STR, "smtp,smtps");
    set(CURLOPT_PROXY, "");
    set(CURLOPT_NOSIGNAL, 1L);
    set(CURLOPT_TIMEOUT_MS, static_cast<long>(left.count()));
    set(CURLOPT_ERRORBUFFER, fault.data());
    set(CURLOPT_MAIL_FROM, Bracketed(options_.from).c_str());
    set(CURLOPT_MAIL_RCPT, to.get());
    set(CURLOPT_MAIL_RCPT_ALLLOWFAILS, 1L);  // a refused recipient must not block the others
    set(CURLOPT_VERBOSE, 1L);                // calls Listen; prints nothing
    set(CURLOPT_DEBUGFUNCTION, &Listen);
    set(CURLOPT_DEBUGDATA, static_cast<void*>(&talk));
    set(CURLOPT_UPLOAD, 1L);
    set(CURLOPT_READFUNCTION, &GiveText);
    set(CURLOPT_READDATA, static_cast<void*>(&rest));
    set(CURLOPT_NOPROGRESS, 0L);
    set(CURLOPT_XFERINFOFUNCTION, &IsToStop);
    set(CURLOPT_XFERINFODATA, static_cast<const void*>(&stop));
    if (options_.starttls) {
        const bool must = !options_.password.empty();
        set(CURLOPT_USE_SSL, static_cast<long>(must ? CURLUSESSL_ALL : CURLUSESSL_TRY));
    }
    if (!options_.ca_file.empty()) set(CURLOPT_CAINFO, options_.ca_file.c_str());
    if (!options_.user.empty()) {
        set(CURLOPT_USERNAME, options_.user.c_str());
        set(CURLOPT_PASSWORD, options_.password.c_str());
    }
    const CURLcode code = libcurl::Api().curl_easy_perform(handle.get());
    if (code == CURLE_OK) {
        if (talk.refused.empty()) return {};
        return {Kind::kSent, fmt::format("not taken for {}", fmt::join(talk.refused, ", "))};
    }
    if (stop.stop_requested()) return {Kind::kLater, "the server stopped while it was sent"};
    long response = 0;
    libcurl::Api().curl_easy_getinfo(handle.get(), CURLINFO_RESPONSE_CODE, &response);
    const char* const why =
        fault[0] == '\0' ? libcurl::Api().curl_easy_strerror(code) : fault.data();
    std::string error = fmt::format("SMTP: {}", why);
    if (response != 0) error += fmt::format(" (last answer {})", response);
    return {IsFinal(code, response, talk) ? Kind::kRefused : Kind::kLater, std::move(error)};
}

}  // namespace ksana::mail
