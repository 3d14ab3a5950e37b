#include "ksana/mail/mail_text.hpp"

#include <gtest/gtest.h>

#include "ksana/base/time/time_text.hpp"

namespace ksana::mail {
namespace {

Mail Plain() {
    return {.id = "m1",
            .to = {"a@example.com", "b@example.com"},
            .subject = "job nightly failed",
            .text = "It failed.\n.\n",
            .at = ParseTime("2026-03-02T08:00:05.5Z").value()};
}

TEST(MailTextTest, IsWhatMailServersExpect) {
    EXPECT_EQ(MailToText(Plain(), "ksana@example.com"),
              "Date: Mon, 02 Mar 2026 08:00:05 +0000\r\n"
              "From: ksana@example.com\r\n"
              "To: a@example.com,\r\n b@example.com\r\n"
              "Subject: job nightly failed\r\n"
              "Message-ID: <m1@example.com>\r\n"
              "MIME-Version: 1.0\r\n"
              "Content-Type: text/plain; charset=utf-8\r\n"
              "Content-Transfer-Encoding: base64\r\n"
              "Auto-Submitted: auto-generated\r\n"
              "\r\n"
              "SXQgZmFpbGVkLgouCg==\r\n");
}

TEST(MailTextTest, ASubjectCannotAddHeaders) {
    Mail mail = Plain();
    mail.subject = "x\r\nBcc: c@example.com";
    const std::string text = MailToText(mail, "k@e.com");
    EXPECT_EQ(text.find("Bcc"), std::string::npos) << text;
    EXPECT_NE(text.find("Subject: =?UTF-8?B?"), std::string::npos) << text;
}

TEST(MailTextTest, LongAndForeignSubjectsAreFoldedBetweenCharacters) {
    Mail mail = Plain();
    mail.subject = "";
    for (int n = 0; n < 40; ++n) mail.subject += "é";
    const std::string text = MailToText(mail, "k@e.com");
    // A word holds 15 characters of two bytes each.
    EXPECT_NE(text.find("?=\r\n =?UTF-8?B?w6nDqcOpw6nDqcOpw6nDqcOpw6nDqcOpw6nDqcOp?="),
              std::string::npos)
        << text;
}

TEST(MailTextTest, NoLineOfTheTextIsTooLong) {
    Mail mail = Plain();
    mail.text = std::string(5000, 'x');
    const std::string text = MailToText(mail, "k@e.com");
    std::size_t begin = 0;
    for (std::size_t end = 0; (end = text.find("\r\n", begin)) != text.npos; begin = end + 2) {
        EXPECT_LE(end - begin, 76U);
    }
    EXPECT_EQ(begin, text.size());
}

}  // namespace
}  // namespace ksana::mail
