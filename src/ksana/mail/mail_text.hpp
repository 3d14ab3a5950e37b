#pragma once

#include <string>

#include "ksana/mail/mailer.hpp"

namespace ksana::mail {

// A mail as it goes over the wire (RFC 5322): headers, and the text in base64, so that no line of
// it is too long and none is taken for a command. Nothing that a subject holds can add a header.
std::string MailToText(const Mail& mail, const std::string& from);

// What is before the "@" stands for the id; what is behind it is the sender's domain.
std::string MessageIdOf(const Mail& mail, const std::string& from);

}  // namespace ksana::mail
