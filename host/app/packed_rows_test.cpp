#include "app/packed_rows.hpp"

#include <gtest/gtest.h>

#include <random>

#include "app/gunzip_for_test.hpp"

namespace backplane {
namespace {

constexpr std::size_t kAll = std::size_t{1} << 40;

// A PackedRows, and the texts of its rows, as a metric family has them.
class PackedRowsTest : public ::testing::Test {
 protected:
  static std::string row_of(std::size_t number, std::size_t size = 1000) {
    std::string text;
    while (text.size() < size)
      text += "row " + std::to_string(number) + " has some text " + std::to_string(number * 7919 + text.size()) + "\n";
    return text;
  }
  void fill(std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) texts.push_back(row_of(i));
  }
  // Makes one scrape. `changed`: the indices of the changed rows.
  std::string scrape(const std::vector<std::size_t>& changed = {}, const std::vector<std::uint32_t>& former = {}) {
    std::vector<std::uint8_t> flags(texts.size(), 0);
    for (const std::size_t row : changed) flags[row] = 1;
    rows.note(flags, former);
    rendered = 0;
    rows.render("head\n", [&](std::size_t row, std::string& out) {
      ++rendered;
      out.append(texts[row]);
    });
    std::size_t most = kAll;
    EXPECT_TRUE(rows.pack(compressor, most));
    EXPECT_EQ(rows.sum().size(), expected().size());
    return read();
  }
  std::string read() const {
    GzipAssembly assembly;
    rows.add_to(assembly);
    return gunzipped(assembly.finish());
  }
  std::string expected() const {
    std::string out = "head\n";
    for (const std::string& text : texts) out += text;
    return out;
  }

  PackedRows rows;
  PieceCompressor compressor;
  std::vector<std::string> texts;
  std::size_t rendered = 0;
};

TEST_F(PackedRowsTest, WithoutRowsTheTextIsTheHead) {
  EXPECT_EQ(scrape(), "head\n");
  texts.push_back("a\n");
  EXPECT_EQ(scrape({}, {PackedRows::kNew}), "head\na\n");
  texts.clear();
  EXPECT_EQ(scrape(), "head\n");
}

TEST_F(PackedRowsTest, OnlyPiecesThatHaveChangedAreRendered) {
  fill(200);
  EXPECT_EQ(scrape(), expected());
  EXPECT_EQ(rendered, 200U);
  EXPECT_GE(rows.pieces_for_test(), 200'000 / PackedRows::kPiece);
  EXPECT_EQ(scrape(), expected());
  EXPECT_EQ(rendered, 0U);
  texts[100] = "short\n";
  EXPECT_EQ(scrape({100}), expected());
  EXPECT_GT(rendered, 0U);
  EXPECT_LE(rendered, PackedRows::kPiece / 1000);
}

TEST_F(PackedRowsTest, RowsThatChangeAgainAndAgainAreRenderedAlone) {
  fill(200);
  scrape();
  for (int turn = 0; turn < 5; ++turn) {
    for (const std::size_t row : {100, 101, 150}) texts[row] = row_of(row + static_cast<std::size_t>(turn) * 1000);
    EXPECT_EQ(scrape({100, 101, 150}), expected());
  }
  EXPECT_EQ(rendered, 3U);
  const std::size_t split = rows.pieces_for_test();
  for (int turn = 0; turn < 100; ++turn) EXPECT_EQ(scrape(), expected());
  EXPECT_LT(rows.pieces_for_test(), split) << "pieces that do not change any more are merged";
  EXPECT_EQ(rendered, 0U);
}

TEST_F(PackedRowsTest, RowsThatComeAndGoTakeTheirPieceWithThem) {
  fill(200);
  scrape();
  std::vector<std::uint32_t> former;
  std::vector<std::string> next;
  for (std::uint32_t i = 0; i < 200; ++i) {
    if (i == 0 || (i >= 50 && i < 120)) continue;  // the first one, and whole pieces
    if (i == 130) {
      next.push_back(row_of(5000));
      former.push_back(PackedRows::kNew);
    }
    next.push_back(texts[i]);
    former.push_back(i);
  }
  texts = next;
  EXPECT_EQ(scrape({}, former), expected());
  EXPECT_LE(rendered, 4 * PackedRows::kPiece / 1000);
  const std::vector<std::string> last = {texts[100]};
  texts = last;
  EXPECT_EQ(scrape({}, {100}), expected());
}

TEST_F(PackedRowsTest, TheWorkCanBeDividedIntoTurns) {
  fill(500);
  std::vector<std::uint8_t> flags(500, 0);
  rows.note(flags, {});
  rows.render("head\n", [&](std::size_t row, std::string& out) { out.append(texts[row]); });
  std::size_t turns = 1;
  for (std::size_t most = 64 << 10; !rows.pack(compressor, most); most = 64 << 10) ++turns;
  EXPECT_GE(turns, 500'000U / (96 << 10));
  EXPECT_EQ(read(), expected());
}

TEST_F(PackedRowsTest, ARowMayBeEmptyOrLongerThanAPiece) {
  fill(3);
  texts[1] = "";
  texts.push_back(row_of(9, 3 * PackedRows::kPiece));
  EXPECT_EQ(scrape(), expected());
  texts[3] = "";
  texts[1] = row_of(7);
  EXPECT_EQ(scrape({1, 3}), expected());
}

TEST_F(PackedRowsTest, AnySequenceOfChangesGivesTheText) {
  std::mt19937 random(1);  // NOLINT: the same sequence each time
  const auto below = [&](std::size_t end) { return std::uniform_int_distribution<std::size_t>(0, end - 1)(random); };
  fill(300);
  std::uint32_t number = 1000;
  for (int turn = 0; turn < 400; ++turn) {
    std::vector<std::size_t> changed;
    std::vector<std::uint32_t> former;
    if (below(3) == 0) {
      std::vector<std::string> next;
      for (std::uint32_t i = 0; i < texts.size(); ++i) {
        if (below(50) == 0) {
          next.push_back(row_of(++number, below(3000)));
          former.push_back(PackedRows::kNew);
        }
        if (below(50) == 0) continue;
        next.push_back(texts[i]);
        former.push_back(i);
      }
      if (former.size() != texts.size() || turn % 2 == 0) texts = next;
      if (texts != next) former.clear();
    }
    for (std::size_t i = below(10); i > 0 && !texts.empty(); --i) {
      const std::size_t row = below(below(2) == 0 ? texts.size() : std::min<std::size_t>(texts.size(), 5));
      if (!former.empty() && former[row] == PackedRows::kNew) continue;
      texts[row] = row_of(++number, below(3000));
      changed.push_back(row);
    }
    ASSERT_EQ(scrape(changed, former), expected()) << turn;
  }
}

}  // namespace
}  // namespace backplane
