#include "sim/report/report.h"

#include "sim/config/effective.h"

namespace sim {

void write_table(std::ostream& out, const Config&, const Result& result) {
  out << "virtual " << result.virtual_time.count() << " ps\n";
}
void write_json(std::ostream& out, const Config& config, const Result& result) {
  nlohmann::ordered_json json;
  json["schema"] = "trainwreck.result/1";
  json["config"] = effective_json(config);
  json["seed"] = result.seed;
  json["virtual_ns"] = to_ns(result.virtual_time);
  out << json.dump(1) << "\n";
}
void write_csv(std::ostream& out, const Config&, const Result& result) {
  out << "virtual_ns\n" << to_ns(result.virtual_time) << "\n";
}
void write_hgrm(std::ostream& out, const Config&, const Result&) {
  out << "hgrm\n";
}

}  // namespace sim
