customElements.define("planner-itinerary", class extends HTMLElement {
  connectedCallback() {
    const { data } = JSON.parse(this.dataset.part);
    const told = document.createElement("p");
    told.textContent = `${data.stops.length} stops, the last is ${data.stops.at(-1)}`;
    this.append(told);
  }
});
