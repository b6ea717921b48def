"""What a measured server has beside the product."""
