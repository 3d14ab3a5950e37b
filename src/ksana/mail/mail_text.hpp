#pragma once

#include <string>

#include "ksana/mail/mailer.hpp"

namespace ksana::mail {

// Returns the mail in the format of RFC 5322: headers, and the text in base64, so that no line is
// too long or mistaken for an SMTP command. A subject cannot add headers.
std::string MailToText(const Mail& mail, const std::string& from);

// Returns "<ID@DOMAIN>" with the mail's id and the sender's domain.
std::string MessageIdOf(const Mail& mail, const std::string& from);

}  // namespace ksana::mail
