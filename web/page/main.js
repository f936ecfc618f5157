// Where a page begins: it holds the data of a run, or of a comparison, or asks a server for them.
import "uplot/dist/uPlot.min.css";
import "./page.css";
import {compare} from "./compare.js";
import {byId} from "./dom.js";
import {live} from "./live.js";
import {report} from "./report.js";

const data = JSON.parse(byId("data").textContent);
if (data.live) live();
else if (data.settings) compare(data);
else report(data);
document.documentElement.dataset.ready = "yes";
if (!document.querySelector("#score canvas")) performance.mark("rubato ready");  // else when its marks are unpacked
