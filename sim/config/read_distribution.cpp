// Section::distribution: a duration, or a table that says how it is drawn.
#include <algorithm>
#include <array>
#include <cmath>

#include "sim/config/section.h"
#include "sim/config/suggest.h"
#include "sim/config/text_file.h"

namespace sim {
namespace {

using Kind = Distribution::Kind;

constexpr std::size_t kMostSamples = 100'000;
constexpr std::size_t kLargestSampleFile = 4 << 20;
constexpr double kMostSigma = 10;
constexpr double kMostAlpha = 1000;

constexpr std::array<std::string_view, 8> kKeys{"dist",  "mean",  "low",    "high",
                                                "sigma", "alpha", "values", "file"};

// The keys that go with a kind, beside `dist`.
std::vector<std::string_view> keys_of(Kind kind) {
  switch (kind) {
    case Kind::constant:
    case Kind::exponential:
      return {"mean"};
    case Kind::uniform:
      return {"low", "high"};
    case Kind::lognormal:
      return {"mean", "sigma"};
    case Kind::pareto:
      return {"mean", "alpha"};
    case Kind::empirical:
      return {"values", "file"};
  }
  return {};
}

void require(const Section& section, std::string_view key, bool there, std::string_view what) {
  if (!there) section.fail(key, "is missing: this distribution needs " + std::string(what));
}

double read_shape(const Section& section, std::string_view key, double above, double most) {
  double shape = 0;
  const std::string allowed = "a number above " + std::to_string(static_cast<int>(above)) +
                              ", at most " + std::to_string(static_cast<int>(most));
  require(section, key, section.real(key, shape), std::string(key) + ", " + allowed);
  if (shape <= above || shape > most) {
    section.fail(key, "must be " + allowed + ", is " + describe(*section.find(key)));
  }
  return shape;
}

std::vector<Time> read_values(const Section& section) {
  const toml::node& node = *section.find("values");
  const auto* array = node.as_array();
  if (array == nullptr) section.fail("values", "needs a list of durations, is " + describe(node));
  if (array->empty() || array->size() > kMostSamples) {
    section.fail("values", "needs 1 to " + std::to_string(kMostSamples) + " durations, holds " +
                               std::to_string(array->size()));
  }
  std::vector<Time> values;
  for (const toml::node& entry : *array) {
    values.push_back(read_duration(section.origin(), entry,
                                   section.path_of("values." + std::to_string(values.size()))));
  }
  return values;
}

// One duration a line; blank lines and lines that begin with '#' do not count.
std::vector<Time> read_value_file(const Section& section) {
  std::string name;
  section.text("file", name);
  // A NUL would end the name early.
  if (name.empty() || name.find('\0') != std::string::npos) {
    section.fail("file", "needs the path of a file with one duration a line, is " + quote(name));
  }
  const auto content =
      read_text_file(section.origin().directory / name, kLargestSampleFile, FileKind::regular);
  if (const auto* fault = std::get_if<FileFault>(&content)) {
    section.fail("file", quote(name) + " " + fault->message);
  }
  std::string_view rest = std::get<std::string>(content);
  std::vector<Time> values;
  for (std::size_t line = 1; !rest.empty(); ++line) {
    const std::size_t end = rest.find('\n');
    std::string_view text = rest.substr(0, end);
    rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
    while (text.ends_with('\r') || text.ends_with(' ')) text.remove_suffix(1);
    if (text.empty() || text.starts_with('#')) continue;
    const auto parsed = parse_duration(text);
    if (const auto* wrong = std::get_if<std::string>(&parsed)) {
      section.fail("file", quote(name) + " line " + std::to_string(line) + " " + *wrong);
    }
    if (values.size() == kMostSamples) {
      section.fail("file", quote(name) + " must hold at most " + std::to_string(kMostSamples) +
                               " durations");
    }
    values.push_back(std::get<Time>(parsed));
  }
  if (values.empty()) section.fail("file", quote(name) + " must hold at least one duration");
  return values;
}

Distribution read_table(const Section& section) {
  std::vector<std::string_view> names;
  for (const auto& kind : distribution_kinds()) names.push_back(kind.name);
  Distribution result;
  require(section, "dist", section.choice("dist", result.kind, distribution_kinds()),
          "dist, one of " + join(names));
  const auto allowed = keys_of(result.kind);
  const std::string_view name = name_of(distribution_kinds(), result.kind);
  for (const std::string_view key : kKeys) {
    if (key == "dist" || section.find(key) == nullptr) continue;
    if (std::ranges::find(allowed, key) == allowed.end()) {
      section.fail(key, "does not go with dist " + quote(name) + ", which takes " + join(allowed));
    }
  }
  // A mean of zero leaves nothing to draw; only the constant 0 makes sense.
  const Time least = result.kind == Kind::constant ? Time{0} : picoseconds(1);
  if (std::ranges::find(allowed, "mean") != allowed.end()) {
    require(section, "mean", section.duration("mean", result.mean, least), "mean, a duration");
  }
  switch (result.kind) {
    case Kind::constant:
    case Kind::exponential:
      break;
    case Kind::uniform:
      require(section, "low", section.duration("low", result.low), "low and high, durations");
      require(section, "high", section.duration("high", result.high), "low and high, durations");
      if (result.high < result.low) {
        section.fail("high", "must be at least low (" + format_duration(result.low) + "), is " +
                                 describe(*section.find("high")));
      }
      break;
    case Kind::lognormal:
      result.shape = read_shape(section, "sigma", 0, kMostSigma);
      break;
    case Kind::pareto:
      result.shape = read_shape(section, "alpha", 1, kMostAlpha);
      break;
    case Kind::empirical:
      if ((section.find("values") != nullptr) == (section.find("file") != nullptr)) {
        section.fail("values", "empirical needs values or file, one of them");
      }
      result.values =
          section.find("file") != nullptr ? read_value_file(section) : read_values(section);
      break;
  }
  return result;
}

}  // namespace

bool Section::distribution(std::string_view key, Distribution& out) const {
  const toml::node* node = find(key);
  if (node == nullptr) return false;
  if (const auto* inner = node->as_table()) {
    out = read_table(Section(*origin_, *inner, path_of(key), "a distribution", kKeys));
  } else if (node->is_string()) {
    out = Distribution::constant(read_duration(*origin_, *node, path_of(key)));
  } else {
    fail(key, std::string("needs a duration with a unit (ps, ns, us, ms, s or min) such as ") +
                  "\"500ns\", or a table such as { dist = \"exponential\", mean = \"2us\" }, is " +
                  describe(*node));
  }
  return true;
}

}  // namespace sim
