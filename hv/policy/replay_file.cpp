#include "hv/policy/replay_file.h"

#include <array>
#include <charconv>
#include <fstream>
#include <map>
#include <stdexcept>
#include <string_view>
#include <utility>

namespace hv {
namespace {

constexpr std::int64_t kLastNs = sim::kNever.count() / 1000 - 1;

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kSpace = " \t\r";
  const auto first = text.find_first_not_of(kSpace);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kSpace) - first + 1);
}

class Reader {
 public:
  Reader(const std::string& path, const ReplayBounds& bounds) : path_(path), bounds_(bounds) {}

  std::vector<ReplayStep> read() {
    std::ifstream file(path_);
    if (!file) throw std::invalid_argument(path_ + ": can't be read");
    std::string line;
    while (std::getline(file, line)) {
      ++line_;
      const std::string_view text = trimmed(std::string_view(line).substr(0, line.find('#')));
      if (text.empty()) continue;
      if (!std::exchange(past_header_, true) && text == "time_ns,pcpu,vcpu") continue;
      add(text);
    }
    if (file.bad()) throw std::invalid_argument(path_ + ": can't be read");
    if (steps_.empty()) fail("holds no schedule; allowed: lines of time_ns,pcpu,vcpu");
    return std::move(steps_);
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw std::invalid_argument(path_ + ":" + std::to_string(line_) + ": " + what);
  }

  std::uint64_t number(std::string_view column, std::string_view text, std::uint64_t last) const {
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size() || text.empty() || value > last)
      fail(std::string(column) + " is \"" + std::string(text) + "\"; allowed: 0 to " +
           std::to_string(last) + (column == "vcpu" ? ", or -" : ""));
    return value;
  }

  void add(std::string_view text) {
    std::array<std::string_view, 3> field;
    for (std::size_t i = 0; i < field.size(); ++i) {
      const auto comma = text.find(',');
      if ((comma == std::string_view::npos) != (i + 1 == field.size()))
        fail("needs three columns: time_ns,pcpu,vcpu");
      field[i] = trimmed(text.substr(0, comma));
      if (comma != std::string_view::npos) text.remove_prefix(comma + 1);
    }
    ReplayStep step;
    step.line = line_;
    step.at = sim::nanoseconds(static_cast<std::int64_t>(
        number("time_ns", field[0], static_cast<std::uint64_t>(kLastNs))));
    step.pcpu = static_cast<std::uint32_t>(number("pcpu", field[1], bounds_.pcpus - 1));
    if (field[2] != "-")
      step.vcpu = static_cast<std::uint32_t>(number("vcpu", field[2], bounds_.vcpus - 1));
    if (!steps_.empty() && step.at < steps_.back().at)
      fail("goes back in time; allowed: " + std::to_string(steps_.back().at / sim::nanoseconds(1)) +
           " or later");
    check_single(step);
    steps_.push_back(step);
  }

  // One line for a physical CPU at a time, and one physical CPU for a vCPU.
  void check_single(const ReplayStep& step) {
    if (steps_.empty() || steps_.back().at != step.at) {
      pcpu_line_.clear();
      vcpu_line_.clear();
    }
    const auto [pcpu, new_pcpu] = pcpu_line_.try_emplace(step.pcpu, line_);
    if (!new_pcpu)
      fail("pcpu " + std::to_string(step.pcpu) + " has a vcpu at this time in line " +
           std::to_string(pcpu->second) + "; allowed: one line each");
    if (!step.vcpu) return;
    const auto [vcpu, new_vcpu] = vcpu_line_.try_emplace(*step.vcpu, line_);
    if (!new_vcpu)
      fail("vcpu " + std::to_string(*step.vcpu) + " is elsewhere at this time in line " +
           std::to_string(vcpu->second) + "; allowed: one pcpu each");
  }

  const std::string& path_;
  ReplayBounds bounds_;
  std::uint32_t line_ = 0;
  bool past_header_ = false;
  std::vector<ReplayStep> steps_;
  std::map<std::uint32_t, std::uint32_t> pcpu_line_;  // of the steps at the last time
  std::map<std::uint32_t, std::uint32_t> vcpu_line_;
};

}  // namespace

std::vector<ReplayStep> read_replay(const std::string& path, const ReplayBounds& bounds) {
  return Reader(path, bounds).read();
}

}  // namespace hv
