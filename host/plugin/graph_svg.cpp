#include "plugin/graph_svg.hpp"

#include <algorithm>
#include <map>
#include <string_view>

#include "base/markup.hpp"

namespace backplane {
namespace {

// Lengths in pixels.
constexpr int kMargin = 24, kBoxHeight = 40, kBoxGap = 18, kRowGap = 44, kCharacter = 7, kPadding = 12, kWidest = 1400;

struct Box {
  std::size_t plugin = 0;
  int x = 0, y = 0, width = 0;
  std::string title, note;
};
using Row = std::vector<Box>;

// Control characters cannot be written in XML 1.0.
std::string escaped(std::string_view text) {
  std::string out = escaped_markup(text, MarkupQuotes::kEscaped);
  std::replace_if(
      out.begin(), out.end(), [](unsigned char c) { return c < 0x20; }, ' ');
  return out;
}

std::string attribute(std::string_view name, int value) { return " " + std::string(name) + "=\"" + std::to_string(value) + "\""; }

std::string text_at(int x, int y, std::string_view style, std::string_view text) {
  return "<text" + attribute("x", x) + attribute("y", y) + " class=\"" + std::string(style) + "\">" + escaped(text) + "</text>\n";
}

// The number of edges on the longest path from a plugin that no other plugin precedes; the chain is an order of the edges.
std::map<std::size_t, std::size_t> depths(const Plan& plan) {
  std::map<std::size_t, std::size_t> depth, place;
  for (std::size_t i = 0; i < plan.chain.size(); ++i) place[plan.chain[i]] = i;
  for (const std::size_t plugin : plan.chain) {
    depth.emplace(plugin, 0);
    for (const PlanEdge& edge : plan.edges) {
      const bool follows = edge.from == plugin && place.contains(edge.to) && place[edge.to] > place[plugin];
      if (follows) depth[edge.to] = std::max(depth[edge.to], depth[plugin] + 1);
    }
  }
  return depth;
}

Box box_of(const Plan& plan, std::size_t i, std::size_t place) {
  const InspectedPlugin& file = plan.plugins[i].inspected;
  Box box;
  box.plugin = i;
  box.title = file.display_name();
  box.note = plan.plugins[i].runs() ? std::to_string(place) + "  " + file.display_version()
                                    : std::string(state_name(plan.plugins[i].state)) + " " + std::string(plan.plugins[i].code());
  box.width = static_cast<int>(std::max(box.title.size(), box.note.size())) * kCharacter + 2 * kPadding;
  return box;
}

int width_of(const Row& row) {
  int width = 0;
  for (const Box& box : row) width += box.width + kBoxGap;
  return width;
}

void add_box(std::vector<Row>& rows, std::size_t first, Box box) {
  if (rows.size() == first || width_of(rows.back()) + box.width > kWidest) rows.emplace_back();
  rows.back().push_back(std::move(box));
}

// A layer that is too wide takes several rows.
std::vector<Row> rows_of(const Plan& plan) {
  const auto depth = depths(plan);
  std::size_t deepest = 0;
  for (const auto& [_, layer] : depth) deepest = std::max(deepest, layer);
  std::vector<Row> rows;
  for (std::size_t layer = 0; layer <= deepest; ++layer) {
    const std::size_t first = rows.size();
    for (std::size_t place = 0; place < plan.chain.size(); ++place) {
      if (depth.at(plan.chain[place]) == layer) add_box(rows, first, box_of(plan, plan.chain[place], place + 1));
    }
  }
  const std::size_t first = rows.size();
  for (std::size_t i = 0; i < plan.plugins.size(); ++i) {
    if (!plan.plugins[i].runs()) add_box(rows, first, box_of(plan, i, 0));
  }
  return rows;
}

void place_rows(std::vector<Row>& rows, int width) {
  int y = kMargin;
  for (Row& row : rows) {
    int x = kMargin + (width - width_of(row) + kBoxGap) / 2;
    for (Box& box : row) {
      box.x = x;
      box.y = y;
      x += box.width + kBoxGap;
    }
    y += kBoxHeight + kRowGap;
  }
}

struct EdgeStyle {
  PlanEdge::Kind kind;
  const char *style, *text;
};
constexpr EdgeStyle kEdgeStyles[] = {{PlanEdge::Kind::kRequires, "requires", "requires"},
                                     {PlanEdge::Kind::kOptional, "optional", "uses, if it runs,"},
                                     {PlanEdge::Kind::kInFrontOf, "order", "is in front of"},
                                     {PlanEdge::Kind::kBehind, "order", "is in front of"}};

std::string edge_path(const PlanEdge& edge, const Box& from, const Box& to) {
  const auto& row = *std::find_if(std::begin(kEdgeStyles), std::end(kEdgeStyles), [&](const auto& each) { return each.kind == edge.kind; });
  const int x = from.x + from.width / 2, to_x = to.x + to.width / 2;
  const bool down = to.y > from.y;
  const int y = down ? from.y + kBoxHeight : from.y, to_y = down ? to.y : to.y + kBoxHeight, bend = down ? kRowGap : -kRowGap;
  const auto point = [](int at_x, int at_y) { return std::to_string(at_x) + " " + std::to_string(at_y); };
  return "<path class=\"" + std::string(row.style) + "\" d=\"M" + point(x, y) + " C" + point(x, y + bend) + " " + point(to_x, to_y - bend) +
         " " + point(to_x, to_y) + "\" marker-end=\"url(#tip)\"><title>" + escaped(from.title + " " + row.text + " " + to.title) +
         (edge.range.empty() ? "" : " " + escaped(edge.range)) + "</title></path>\n";
}

std::string box_text(const Plan& plan, const Box& box) {
  const bool runs = plan.plugins[box.plugin].runs();
  std::string out = "<g><title>" + escaped(plan.plugins[box.plugin].inspected.path) + "</title><rect" + attribute("x", box.x) +
                    attribute("y", box.y) + attribute("width", box.width) + attribute("height", kBoxHeight) + " rx=\"6\" class=\"" +
                    (runs ? "runs" : "out") + "\"/>\n";
  out += text_at(box.x + box.width / 2, box.y + 17, "name", box.title);
  return out + text_at(box.x + box.width / 2, box.y + 32, "note", box.note) + "</g>\n";
}

constexpr std::string_view kStyle =
    "<style>text{font:12px monospace;text-anchor:middle;fill:#1b1f24}.note{font-size:10px;fill:#57606a}"
    "rect{stroke:#57606a;fill:#ddf4ff}.out{fill:#f6f8fa;stroke-dasharray:4 3}path{fill:none;stroke:#57606a}"
    ".optional{stroke-dasharray:6 4}.order{stroke-dasharray:2 3}#tip path{fill:#57606a;stroke:none}</style>\n"
    "<defs><marker id=\"tip\" viewBox=\"0 0 8 8\" refX=\"8\" refY=\"4\" markerWidth=\"7\" markerHeight=\"7\" orient=\"auto\">"
    "<path d=\"M0 0 L8 4 L0 8 z\"/></marker></defs>\n";

}  // namespace

std::string graph_as_svg(const Plan& plan) {
  std::vector<Row> rows = rows_of(plan);
  int width = 0;
  for (const Row& row : rows) width = std::max(width, width_of(row) - kBoxGap);
  place_rows(rows, width);
  const int height = 2 * kMargin + static_cast<int>(rows.size()) * (kBoxHeight + kRowGap);
  std::map<std::size_t, const Box*> boxes;
  for (const Row& row : rows) {
    for (const Box& box : row) boxes[box.plugin] = &box;
  }
  std::string out = "<svg xmlns=\"http://www.w3.org/2000/svg\"" + attribute("width", width + 2 * kMargin) + attribute("height", height) +
                    " role=\"img\">\n<title>The delegation chain</title>\n";
  out += kStyle;
  for (const PlanEdge& edge : plan.edges) {
    if (boxes.contains(edge.from) && boxes.contains(edge.to)) out += edge_path(edge, *boxes[edge.from], *boxes[edge.to]);
  }
  for (const Row& row : rows) {
    for (const Box& box : row) out += box_text(plan, box);
  }
  out += text_at(kMargin + width / 2, height - kMargin / 2, "note", "numbers: place in the chain; after the last plugin: not found");
  return out + "</svg>\n";
}

}  // namespace backplane
