#include "base/progress_line.hpp"

#include <gtest/gtest.h>

namespace backplane {
namespace {

struct Written {
  std::string text;
  std::chrono::steady_clock::time_point now{};
  std::unique_ptr<ProgressLine> line(bool terminal) {
    return std::make_unique<ProgressLine>(
        terminal, [this](const std::string& more) { text += more; }, [this] { return now; });
  }
};

TEST(ProgressLine, IsOverwrittenOnATerminal) {
  Written out;
  auto line = out.line(true);
  line->show("too soon");
  EXPECT_EQ(out.text, "");
  out.now += std::chrono::seconds(1);
  line->show("1 of 2");
  line->show("too soon again");
  out.now += std::chrono::seconds(1);
  line->show("2 of 2");
  EXPECT_EQ(out.text, "\r1 of 2\x1b[K\r2 of 2\x1b[K");
  line->keep("done");
  EXPECT_EQ(out.text, "\r1 of 2\x1b[K\r2 of 2\x1b[K\r\x1b[Kdone\n");
}

TEST(ProgressLine, IsALineEveryFewSecondsWithoutATerminal) {
  Written out;
  auto line = out.line(false);
  for (int i = 1; i <= 12; ++i) {
    out.now += std::chrono::seconds(1);
    line->show(std::to_string(i));
  }
  EXPECT_EQ(out.text, "5\n10\n");
  line.reset();
  EXPECT_EQ(out.text, "5\n10\n");
}

TEST(ProgressLine, ShowsSizes) {
  EXPECT_EQ(shown_bytes(999), "999 bytes");
  EXPECT_EQ(shown_bytes(12'345'678), "12.3 MB");
  EXPECT_EQ(shown_part(1, 3), "33%");
  EXPECT_EQ(shown_part(4, 3), "100%");
  EXPECT_EQ(shown_part(4, 0), "");
}

}  // namespace
}  // namespace backplane
