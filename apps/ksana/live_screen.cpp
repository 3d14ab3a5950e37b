#include "ksana/live_screen.hpp"

#include <unistd.h>

namespace ksana::app {

LiveScreen::LiveScreen(Output& output) : output_(output) {
    termios settings{};
    if (::tcgetattr(STDIN_FILENO, &settings) == 0) {
        before_ = settings;
        settings.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
        settings.c_cc[VMIN] = 0;
        settings.c_cc[VTIME] = 0;
        // Stopped by Ctrl-Z it would leave its screen behind.
        settings.c_cc[VSUSP] = _POSIX_VDISABLE;
        ::tcsetattr(STDIN_FILENO, TCSANOW, &settings);
    }
    output_.out += "\x1b[?1049h\x1b[?25l\x1b[?7l";
}

LiveScreen::~LiveScreen() {
    output_.out += "\x1b[?7h\x1b[?25h\x1b[?1049l";
    output_.Flush();
    if (before_) ::tcsetattr(STDIN_FILENO, TCSANOW, &*before_);
}

// Over the old picture, line by line: clearing first would flicker.
bool LiveScreen::Draw(const std::vector<std::string>& lines) {
    output_.out += "\x1b[H";
    for (std::size_t i = 0; i < lines.size(); ++i) {
        if (i > 0) output_.out += "\n";
        // Before the text: behind a line of full width it would take the last letter away.
        output_.out += "\x1b[K" + lines[i];
    }
    output_.out += "\x1b[J";
    return output_.Flush();
}

char LiveScreen::Key() const {
    char key = 0;
    return before_ && ::read(STDIN_FILENO, &key, 1) == 1 ? key : '\0';
}

int LiveScreen::input() const { return before_ ? STDIN_FILENO : -1; }

}  // namespace ksana::app
