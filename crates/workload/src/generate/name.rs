//! The list of generators by name.

use super::{Load, iometer, likes, plain};
use fathom_base::registry::Text;
use fathom_base::{Kind, names};

/// Entry of the generators in the list of kinds.
const GENERATOR: Kind = Kind {
    one: "generator",
    list: "workloads",
    summary: "Generators and programs",
    prefix: "generate:",
    option: "",
    text: Text::Prose,
};

names! {
    /// The name of a generator.
    pub enum Name of GENERATOR in NAMES, pub fn load -> Load {
        Uniform = "uniform", plain::UNIFORM => plain::uniform();
        Sequential = "sequential", plain::SEQUENTIAL => plain::sequential();
        Zipf = "zipf", plain::ZIPF => plain::zipf();
        HotCold = "hot-cold", plain::HOT_COLD => plain::hot_cold();
        Pareto = "pareto", plain::PARETO => plain::pareto();
        IometerFileServer = "iometer-file-server", iometer::FILE_SERVER => iometer::file_server();
        Financial1Like = "financial1-like", likes::FINANCIAL1 => likes::financial1();
        Financial2Like = "financial2-like", likes::FINANCIAL2 => likes::financial2();
        TpccLike = "tpcc-like", likes::TPCC => likes::tpcc();
        WebSearchLike = "websearch-like", likes::WEBSEARCH => likes::websearch();
    }
}
