// Start what is there.
startExplorer(data.path, data.names);
if (data.gates !== null) gatesChart(data.gates, data.names);
if (data.stability !== null) stabilityChart(data.stability, data.names);
if (data.outcome !== null && data.outcome.kind === "numbers") numbersChart(data.outcome);
if (data.outcome !== null && data.outcome.kind === "survival") survivalChart(data.outcome);
startPrinting();
startTheme();
